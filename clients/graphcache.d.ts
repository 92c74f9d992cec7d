import type { CacheExchangeOpts } from '@urql/exchange-graphcache';

export declare const cacheOptions: Required<Pick<CacheExchangeOpts, 'keys' | 'logger' | 'possibleTypes' | 'updates'>>;
