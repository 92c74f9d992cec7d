import type { Config, Upstreams } from './gateway-config.ts';

/** The keys and the upstream hosts, which must not appear in logs and responses. */
export function listSecrets({ essayService: { llm }, store, access }: Config, upstreams: Upstreams): string[] {
  const paid = [...Object.values(upstreams), ...(llm ? [llm] : [])];
  const keys = paid.flatMap(({ url, apiKey }) => [apiKey ?? '', new URL(url).host]);
  // A short password would be redacted from ordinary words.
  const password = store.redis?.password ?? '';
  return [...keys, store.secret ?? '', access.router?.secret ?? '', password.length >= 8 ? password : ''];
}
