import type { Config, Upstreams } from './gateway-config.ts';

/** The keys and the upstream hosts, which must not appear in logs and responses. */
export function listSecrets({ essayService: { llm }, store, access, traces }: Config, upstreams: Upstreams): string[] {
  const paid = [...Object.values(upstreams), ...(llm ? [llm] : [])];
  const keys = paid.flatMap(({ url, apiKey }) => [apiKey ?? '', new URL(url).host]);
  // A short password would be redacted from ordinary words.
  const password = store.redis?.password ?? '';
  // Such as `Bearer key`.
  const headers = Object.values(traces?.headers ?? {}).flatMap((value) => value.split(' '));
  return [
    ...keys,
    ...headers.filter(({ length }) => length >= 8),
    store.secret ?? '',
    access.router?.secret ?? '',
    password.length >= 8 ? password : '',
  ];
}
