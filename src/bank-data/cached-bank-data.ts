import type { Config } from '../config/gateway-config.ts';
import type { OpenedStore } from '../stores/open-store.ts';
import type { Events } from '../telemetry/events.ts';
import type { UpstreamClient } from '../upstream/upstream-client.ts';
import { withCache } from './cache.ts';
import { createDataVersion } from './data-version.ts';
import { createLookUpCache } from './look-up-cache.ts';
import { withPrecheck } from './precheck.ts';
import { createRestBankData } from './rest/rest-bank-data.ts';
import { createSharedCache } from './shared-cache.ts';

interface CachedBankDataOptions extends Pick<OpenedStore, 'store' | 'isShared'> {
  upstream: { url: string; client: UpstreamClient };
  config: Pick<Config, 'bankData' | 'upstreamConcurrency' | 'upstreamQueue'>;
  events: Events;
}

/** The bank-data service behind its precheck and its cache. */
export function createCachedBankData({ upstream, config, store, isShared, events }: CachedBankDataOptions) {
  const { upstreamConcurrency: maxRunning, upstreamQueue: maxWaiting } = config;
  const { freshMs, maxAgeMs, cacheMaxBytes } = config.bankData;
  // The rest is for kept replies.
  const maxBytes = (cacheMaxBytes * 7) / 8;
  const sharedCache = isShared ? createSharedCache(store) : null;
  const { url, client } = upstream;
  const dataVersion = createDataVersion(url);
  const limits = { maxRunning, maxWaiting, freshMs, maxAgeMs, maxBytes };
  const cache = createLookUpCache({ ...limits, sharedCache, dataVersion, events });
  const restBankData = createRestBankData(client, events, dataVersion);
  return {
    ...withPrecheck(withCache(restBankData, cache)),
    lookUps: cache.status,
    onDataChanged: dataVersion.onChanged,
    close(): Promise<void> {
      dataVersion.close();
      return client.close();
    },
  };
}
