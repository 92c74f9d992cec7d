import type { Config, UpstreamAccess } from '../config/read-config.ts';
import type { OpenedStore } from '../stores/open-store.ts';
import type { Events } from '../telemetry/events.ts';
import type { CreateUpstream } from '../upstream/upstream-client.ts';
import { createDataVersion, noDataVersion } from './data-version.ts';
import { createLookUpCache } from './look-up-cache.ts';
import { withPrecheck } from './precheck.ts';
import { createRestBankData } from './rest/rest-bank-data.ts';
import { createSharedCache } from './shared-cache.ts';

interface CachedBankDataOptions extends Pick<OpenedStore, 'sharedValues'> {
  createUpstream: CreateUpstream;
  access: UpstreamAccess;
  config: Pick<Config, 'bankData' | 'upstreamConcurrency' | 'store'>;
  events: Events;
}

/** The bank-data service behind its precheck and its cache, with its client and its allowance. */
export function createCachedBankData({ createUpstream, access, config, sharedValues, events }: CachedBankDataOptions) {
  const { url, client, allowance } = createUpstream('bank-data', access, 'apikey', config.bankData);
  const { freshMs, maxAgeMs, lookUpBytes: maxBytes, isSelfHosted } = config.bankData;
  const dataVersion = isSelfHosted ? createDataVersion(url) : noDataVersion;
  const sharing = { timeoutMs: config.store.lookUpTimeoutMs, onLate: () => events.storeFailed('timeout') };
  const cache = createLookUpCache({
    client,
    freshMs,
    maxAgeMs,
    maxBytes,
    maxConcurrency: config.upstreamConcurrency,
    sharedCache: sharedValues && createSharedCache(sharedValues, sharing),
    dataVersion,
    events,
  });
  const bankData = withPrecheck(createRestBankData(cache, events, dataVersion));
  return { ...bankData, client, allowance, lookUps: cache.status, dataVersion };
}
