import type { RequestContext } from '../../request-context.ts';
import type { CacheScope } from '../documents/cache-scope.ts';

/** @param freshUntil in milliseconds since 1970 */
export type CacheControlOf = (scope: CacheScope, { freshUntil }: Pick<RequestContext, 'freshUntil'>) => string;

/**
 * The value of `Cache-Control` for routers and browsers: a response may be cached while all values in it are fresh,
 * privately if it contains an IBAN. Responses with errors or stale values are not cached. A time of more than an hour is
 * rounded down to whole minutes: so there are few values, and each is composed once.
 */
export function createCacheControl(): CacheControlOf {
  /** By `max-age`, fewer than 5,000 of each. */
  const values = { public: new Map<number, string>(), private: new Map<number, string>() };

  return (scope, { freshUntil }) => {
    if (scope === 'none') return 'no-store';
    const freshS = Math.min(Math.floor((freshUntil - Date.now()) / 1_000), maxAgeS);
    if (!(freshS > 0)) return 'no-store';
    const maxAge = freshS > hourS ? freshS - (freshS % 60) : freshS;
    const known = values[scope].get(maxAge);
    if (known !== undefined) return known;
    const value = `${scope}, max-age=${maxAge}`;
    values[scope].set(maxAge, value);
    return value;
  };
}

const hourS = 3_600;

/** Also the time to live of computed values, which change only with a release. */
const maxAgeS = 86_400;
