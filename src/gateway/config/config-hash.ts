import { createHmac, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import type { Config } from './read-config.ts';

/**
 * A short hash of what must be the same for all replicas: the secret of the store, the settings, and the bank lists. The secret
 * is only in its key. scrypt derives that slowly, so that secrets cannot be tried quickly against a hash in the metrics.
 * @param readAgain called for each hash: what may change while the gateway runs
 */
export function createConfigHash(
  config: Config,
  readAgain: () => { storeSecret: string | null; callers: readonly object[]; bankLists: readonly object[] },
): () => Promise<string> {
  const settings = listSharedSettings(config);
  let last: { secret: string; key: Promise<Buffer> } | null = null;
  return async () => {
    const { storeSecret, callers, bankLists } = readAgain();
    const secret = storeSecret ?? '';
    if (last?.secret !== secret) last = { secret, key: deriveKey(secret) };
    // Their order does not matter.
    const sorted = callers.map((caller) => JSON.stringify(caller)).toSorted();
    const text = JSON.stringify([settings, sorted, bankLists]);
    return createHmac('sha256', await last.key)
      .update(text)
      .digest('hex')
      .slice(0, 8);
  };
}

/** Without what belongs to a process, such as ports, paths and connections, and without keys, which are read again. */
function listSharedSettings(config: Config): object {
  const { host, port, dataDir, revision, logLevel, requestLogPerSecond, metrics, operatorKey, otlp, ...shared } =
    config;
  const { bankData, essays, essayService, access, store, trustedDocuments } = shared;
  const { jwt, router } = access;
  return {
    ...shared,
    bankData: { ...bankData, upstream: originOf(bankData.upstream?.url) },
    essays: { ...essays, upstream: originOf(essays.upstream?.url) },
    essayService: { ...essayService, llm: essayService.llm?.model ?? null },
    store: { replicas: store.replicas },
    access: {
      limits: access.defaultLimits,
      anonymousScopes: access.anonymousScopes,
      commonScopes: access.commonScopes,
      routerScopes: router?.scopes ?? null,
      jwt: jwt && { ...jwt, keys: 'url' in jwt.keys ? jwt.keys.url : jwt.keys.publicKey.export({ format: 'jwk' }) },
    },
    trustedDocuments: trustedDocuments?.mode ?? null,
  };
}

/** A path may tell replicas apart. */
function originOf(url: string | undefined): string | null {
  return url === undefined ? null : new URL(url).origin;
}

/** Takes 50 ms, in another thread. All replicas need the same salt. */
function deriveKey(secret: string): Promise<Buffer> {
  return promisify<string, string, number, Buffer>(scrypt)(secret, 'ledgerquill config hash', 32);
}
