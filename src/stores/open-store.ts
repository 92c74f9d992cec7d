import type { StoreConfig } from '../config/gateway-config.ts';
import type { Events } from '../telemetry/events.ts';
import { createLmdbStore } from './lmdb-store.ts';
import { createRedisStore } from './redis-store.ts';
import { withSealing } from './sealed-store.ts';
import type { Store } from './store.ts';
import { readOrMakeSecret } from './store-secret.ts';

export interface OpenStore {
  store: Store;
  /** Whether other gateways share it. */
  isShared: boolean;
  isUp(): boolean;
}

/** The store that the configuration asks for, sealed: Redis where one is named, else LMDB in the folder. */
export function openStore({ redisUrl, secret }: StoreConfig, folder: string, events: Events): OpenStore {
  const readSecret = () => secret ?? readOrMakeSecret(folder);
  if (redisUrl === null) {
    return { store: withSealing(createLmdbStore({ folder }), readSecret), isShared: false, isUp: () => true };
  }
  const redis = createRedisStore({
    url: redisUrl,
    commandTimeoutMs: 1_000,
    onDown: events.storeDown,
    onUp: events.storeUp,
  });
  return { store: withSealing(redis, readSecret), isShared: true, isUp: redis.isUp };
}
