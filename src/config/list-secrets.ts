import type { Config, Upstreams } from './gateway-config.ts';
import { isOwnText } from './own-texts.ts';

/** The keys and the upstream hosts, which must not appear in logs and responses. */
export function listSecrets({ essayService: { llm }, store, access, traces }: Config, upstreams: Upstreams): string[] {
  const paid = [...Object.values(upstreams), ...(llm ? [llm] : [])];
  const keys = paid.flatMap(({ url, apiKey }) => [apiKey ?? '', ...secretHosts(url)]);
  // Such as `Bearer key`.
  const headers = Object.values(traces?.headers ?? {}).flatMap((value) => value.split(' '));
  // A header may be no secret, and a password may be a word: redacting them would change other texts.
  const others = [...headers, store.redis?.password ?? ''].filter((text) => text.length >= 8 && !isOwnText(text));
  return [...keys, ...others, store.secret ?? '', access.router?.secret ?? ''];
}

/** Not a name without a domain, such as `bank-data` or `essays` in Compose and Kubernetes, which is a word of other texts. */
function secretHosts(url: string): string[] {
  const { host } = new URL(url);
  return /[.:]/.test(host) ? [host] : [];
}
