import { createHmac, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import type { Config } from './read-config.ts';

/**
 * A short hash of what must be the same for all replicas: the secret of the store, the limits, and the bank lists. The secret
 * is only in its key. scrypt derives that slowly, so that secrets cannot be tried quickly against a hash in the metrics.
 * @param readAgain called for each hash: what may change while the gateway runs
 */
export function createConfigHash(
  { store, bankData, essays, access }: Pick<Config, 'store' | 'bankData' | 'essays' | 'access'>,
  readAgain: () => { storeSecret: string | null; callers: readonly object[]; bankLists: readonly object[] },
): () => Promise<string> {
  const limits = [bankData.monthlyAllowance, essays.monthlyAllowance, store.replicas, access.defaultLimits];
  let last: { secret: string; key: Promise<Buffer> } | null = null;
  return async () => {
    const { storeSecret, callers, bankLists } = readAgain();
    const secret = storeSecret ?? '';
    if (last?.secret !== secret) last = { secret, key: deriveKey(secret) };
    // Their order does not matter.
    const sorted = callers.map((caller) => JSON.stringify(caller)).toSorted();
    const text = JSON.stringify([limits, sorted, bankLists]);
    return createHmac('sha256', await last.key)
      .update(text)
      .digest('hex')
      .slice(0, 8);
  };
}

/** Takes 50 ms, in another thread. All replicas need the same salt. */
function deriveKey(secret: string): Promise<Buffer> {
  return promisify<string, string, number, Buffer>(scrypt)(secret, 'ledgerquill config hash', 32);
}
