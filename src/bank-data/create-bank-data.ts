import type { Store } from '../stores/store.ts';
import type { UpstreamClient } from '../upstream/upstream-client.ts';
import type { BankDataPort } from './bank-data.ts';
import { withCache } from './cache.ts';
import { createDataVersion, type DataVersion } from './data-version.ts';
import { createLookUpCache } from './look-up-cache.ts';
import { withPrecheck } from './precheck.ts';
import type { EndpointEvents } from './rest/endpoint-call.ts';
import { createRestBankData } from './rest/rest-bank-data.ts';
import { createSharedCache } from './shared-cache.ts';

interface BankDataOptions {
  /** Of the service. */
  url: string;
  client: UpstreamClient;
  /** Null: it is not shared with other processes. */
  sharedStore: Store | null;
  /** See `LookUpCacheOptions`. */
  limits: { maxRunning: number; maxWaiting: number; freshMs: number; maxAgeMs: number; maxBytes: number };
  events: EndpointEvents;
}

/** The bank-data service, with a cache and local checks in front of it. */
export function createBankData({ url, client, sharedStore, limits, events }: BankDataOptions): {
  bankData: BankDataPort;
  dataVersion: DataVersion;
} {
  const dataVersion = createDataVersion(url);
  const sharedCache = sharedStore ? createSharedCache(sharedStore) : null;
  const lookUpCache = createLookUpCache({ ...limits, sharedCache, dataVersion });
  const restBankData = createRestBankData(client, events, dataVersion);
  return { bankData: withPrecheck(withCache(restBankData, lookUpCache)), dataVersion };
}
