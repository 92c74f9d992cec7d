import type { StoreConfig } from '../config/gateway-config.ts';
import type { Events } from '../telemetry/events.ts';
import { createLmdbStore } from './lmdb-store.ts';
import { createRedisStore } from './redis-store.ts';
import { withSealing } from './sealed-store.ts';
import type { Store } from './store.ts';
import { readOrCreateSecret } from './store-secret.ts';

export interface OpenedStore {
  store: Store;
  /** Whether several gateways can share it. */
  isShared: boolean;
  isUp(): boolean;
}

/** Opens the configured store, sealed: Redis if configured, otherwise LMDB in the folder. */
export function openStore(
  { redis, secret }: StoreConfig,
  folder: string,
  events: Pick<Events, 'storeDown' | 'storeUp'>,
): OpenedStore {
  const readSecret = () => secret ?? readOrCreateSecret(folder);
  if (redis === null) {
    return { store: withSealing(createLmdbStore({ folder }), readSecret), isShared: false, isUp: () => true };
  }
  const store = createRedisStore({ server: redis, commandTimeoutMs: 1_000, events });
  return { store: withSealing(store, readSecret), isShared: true, isUp: store.isUp };
}
