import { existsSync } from 'node:fs';
import type { StoreConfig } from '../config/read-config.ts';
import { ConfigError, type StoreFailure } from '../errors.ts';
import { type Events, ignore } from '../telemetry/events.ts';
import { createLmdbStore, lmdbPath } from './lmdb-store.ts';
import { createRedisStore } from './redis-store.ts';
import { checkSecretFile, readOrCreateSecret, withSealing } from './sealed-store.ts';
import { type CheckedStore, withSecretCheck } from './secret-check.ts';
import { type Store, StoreError } from './store.ts';
import { describeOtherSecret, findLostSecret } from './store-secret.ts';

export interface OpenedStore {
  store: Store;
  /** Whether gateways on several machines share it, for counts and for the look-up cache: Redis. */
  isShared: boolean;
  /** Why it does not work; null if it does: it is connected, and its last write succeeded. */
  failure(): StoreFailure | null;
  /**
   * Call it before the gateway listens. A store that fails is checked as soon as it works: until then, it is not used.
   * @throws ConfigError if the store was written with another secret
   */
  checkSecret(): Promise<void>;
  /** Adds a listener that is called whenever the store works again after it failed. */
  onRecovered(listener: () => void): void;
}

type StoreEvents = Pick<Events, 'storeDown' | 'storeUp' | 'storeFailed'>;

/**
 * Opens the configured store, sealed: Redis if configured, otherwise LMDB in the folder.
 * @throws ConfigError if a file in the folder is damaged, or the generated secret of the store is missing
 */
export function openStore(
  config: Pick<StoreConfig, 'redis' | 'secret'>,
  folder: string,
  events: StoreEvents,
): OpenedStore {
  const { redis, secret } = config;
  const lostSecret = findLostSecret(config, folder);
  if (lostSecret !== null) throw new ConfigError([lostSecret]);
  if (secret === null) checkSecretFile(folder);
  const readSecret = () => secret ?? readOrCreateSecret(folder);
  const { withHealth, fails, works, failure, onRecovered } = createHealth(
    events,
    redis === null ? null : 'unreachable',
  );
  /** Redis may be another one after each connection. */
  const storeUp = () => checked.checkSecret().then(works, ignore);
  const rawStore =
    redis === null
      ? createLmdbStore({ folder })
      : createRedisStore({
          server: redis,
          commandTimeoutMs: 1_000,
          events: { storeDown: (reason) => fails(new StoreError(reason)), storeUp },
        });
  const checked = withHealth(withSecretCheck(rawStore, readSecret));
  /** Writes the check value again if Redis has lost its data. */
  const checking = redis && setInterval(() => checked.checkSecret().catch(ignore), checkEveryMs).unref();
  const store = withSealing(checked, readSecret);

  return {
    store: {
      ...store,
      close() {
        if (checking) clearInterval(checking);
        return store.close();
      },
    },
    isShared: redis !== null,
    failure,
    async checkSecret() {
      // The first write creates the file.
      if (redis === null && !existsSync(lmdbPath(folder))) return;
      try {
        await checked.checkSecret();
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        if (error.failure === 'wrong-secret') throw new ConfigError([describeOtherSecret(config, folder)]);
      }
    },
    onRecovered,
  };
}

const checkEveryMs = 60_000;

/**
 * Knows whether a store works: a store that can be read, but is full, fails. While it fails, a small write every few seconds
 * finds out when it works again.
 * @param initial the failure until the store works for the first time
 */
function createHealth(events: StoreEvents, initial: StoreFailure | null) {
  let current = initial;
  /** Whether an event has told of the failure. */
  let isReported = false;
  let probing: NodeJS.Timeout | undefined;
  const listeners: (() => void)[] = [];

  return {
    withHealth,
    fails,
    works,
    failure: () => current,
    onRecovered: (listener: () => void) => void listeners.push(listener),
  };

  function fails({ failure, reason }: StoreError): void {
    events.storeFailed(failure);
    // An outage may end with a store of another secret, which needs another remedy.
    const isKnown = isReported && (failure !== 'wrong-secret' || current === failure);
    current = failure;
    if (isKnown) return;
    isReported = true;
    events.storeDown(failure, reason);
  }

  function works(): void {
    if (current === null) return;
    const isRecovered = isReported;
    current = null;
    isReported = false;
    events.storeUp();
    if (isRecovered) for (const listener of listeners) listener();
  }

  function withHealth(store: CheckedStore): CheckedStore {
    return {
      ...store,
      set: (...args) => observe(store.set(...args)),
      setIfAbsent: (...args) => observe(store.setIfAbsent(...args)),
      add: (key, amount, expiry) =>
        amount === 0 ? store.add(key, amount, expiry) : observe(store.add(key, amount, expiry)),
      lock: (...args) => observe(store.lock(...args)),
      async checkSecret() {
        try {
          await store.checkSecret();
        } catch (error) {
          report(error);
          throw error;
        }
      },
      close() {
        clearInterval(probing);
        return store.close();
      },
    };

    async function observe<T>(write: Promise<T>): Promise<T> {
      try {
        const result = await write;
        if (current !== null) works();
        return result;
      } catch (error) {
        report(error);
        throw error;
      }
    }

    function report(error: unknown): void {
      if (!(error instanceof StoreError) || error.reason === 'closed') return;
      fails(error);
      probing ??= setInterval(probe, probeEveryMs).unref();
    }

    function probe(): void {
      if (current !== null) store.set('probe', '', { expiresInMs: probeEveryMs }).then(works, () => {});
    }
  }
}

const probeEveryMs = 5_000;

/** Closes the store if a part that uses it cannot be created: a connection to Redis would keep the process running. */
export function closeOnError<Part>(store: Store, createPart: () => Part): Part {
  try {
    return createPart();
  } catch (error) {
    void store.close();
    throw error;
  }
}
