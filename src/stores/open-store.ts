import type { StoreConfig } from '../config/read-config.ts';
import type { Events } from '../telemetry/events.ts';
import { createLmdbStore } from './lmdb-store.ts';
import { createRedisStore } from './redis-store.ts';
import { checkSecret, readOrCreateSecret, withSealing } from './sealed-store.ts';
import type { Store } from './store.ts';

export interface OpenedStore {
  store: Store;
  /** Whether gateways on several machines share it, for counts and for the look-up cache: Redis. */
  isShared: boolean;
  isUp(): boolean;
  /** Adds a listener that is called whenever the store works again after it failed. */
  onRecovered(listener: () => void): void;
}

/**
 * Opens the configured store, sealed: Redis if configured, otherwise LMDB in the folder.
 * @throws ConfigError if a file in the folder is damaged
 */
export function openStore(
  { redis, secret }: Pick<StoreConfig, 'redis' | 'secret'>,
  folder: string,
  events: Pick<Events, 'storeDown' | 'storeUp'>,
): OpenedStore {
  if (secret === null) checkSecret(folder);
  const readSecret = () => secret ?? readOrCreateSecret(folder);
  if (redis === null) {
    const store = withSealing(createLmdbStore({ folder }), readSecret);
    return { store, isShared: false, isUp: () => true, onRecovered() {} };
  }
  const listeners: (() => void)[] = [];
  let wasDown = false;
  const store = createRedisStore({
    server: redis,
    commandTimeoutMs: 1_000,
    events: {
      storeDown(reason) {
        wasDown = true;
        events.storeDown(reason);
      },
      storeUp() {
        events.storeUp();
        if (wasDown) for (const listener of listeners) listener();
      },
    },
  });
  const onRecovered = (listener: () => void) => void listeners.push(listener);
  return { store: withSealing(store, readSecret), isShared: true, isUp: store.isUp, onRecovered };
}

/** Closes the store if a part that uses it cannot be created: a connection to Redis would keep the process running. */
export function closeOnError<Part>(store: Store, createPart: () => Part): Part {
  try {
    return createPart();
  } catch (error) {
    void store.close();
    throw error;
  }
}
