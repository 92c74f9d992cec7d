import type { StoreConfig } from '../config/read-config.ts';
import type { StoreFailure } from '../errors.ts';
import type { Events } from '../telemetry/events.ts';
import { createLmdbStore } from './lmdb-store.ts';
import { createRedisStore } from './redis-store.ts';
import { checkSecret, readOrCreateSecret, withSealing } from './sealed-store.ts';
import { type Store, StoreError } from './store.ts';

export interface OpenedStore {
  store: Store;
  /** Whether gateways on several machines share it, for counts and for the look-up cache: Redis. */
  isShared: boolean;
  /** Why it does not work; null if it does: it is connected, and its last write succeeded. */
  failure(): StoreFailure | null;
  /** Adds a listener that is called whenever the store works again after it failed. */
  onRecovered(listener: () => void): void;
}

type StoreEvents = Pick<Events, 'storeDown' | 'storeUp' | 'storeFailed'>;

/**
 * Opens the configured store, sealed: Redis if configured, otherwise LMDB in the folder.
 * @throws ConfigError if a file in the folder is damaged
 */
export function openStore(
  { redis, secret }: Pick<StoreConfig, 'redis' | 'secret'>,
  folder: string,
  events: StoreEvents,
): OpenedStore {
  if (secret === null) checkSecret(folder);
  const readSecret = () => secret ?? readOrCreateSecret(folder);
  const { withHealth, fails, works, failure, onRecovered } = createHealth(
    events,
    redis === null ? null : 'unreachable',
  );
  const store =
    redis === null
      ? createLmdbStore({ folder })
      : createRedisStore({
          server: redis,
          commandTimeoutMs: 1_000,
          events: { storeDown: (reason) => fails(new StoreError(reason)), storeUp: works },
        });
  return { store: withSealing(withHealth(store), readSecret), isShared: redis !== null, failure, onRecovered };
}

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
    current = failure;
    if (isReported) return;
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

  function withHealth(store: Store): Store {
    return {
      ...store,
      set: (...args) => observe(store.set(...args)),
      setIfAbsent: (...args) => observe(store.setIfAbsent(...args)),
      add: (key, amount, expiry) =>
        amount === 0 ? store.add(key, amount, expiry) : observe(store.add(key, amount, expiry)),
      lock: (...args) => observe(store.lock(...args)),
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
        if (error instanceof StoreError && error.reason !== 'closed') {
          fails(error);
          probing ??= setInterval(probe, probeEveryMs).unref();
        }
        throw error;
      }
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
