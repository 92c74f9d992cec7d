import type { RequestContext } from '../request-context.ts';
import type { CacheScope } from './cache-scope.ts';

/**
 * The value of `Cache-Control` for routers and browsers: a response may be cached while all values in it are fresh,
 * privately if it contains an IBAN. Responses with errors or stale values are not cached.
 * @param freshUntil in milliseconds since 1970
 */
export function cacheControlOf(scope: CacheScope, { freshUntil }: Pick<RequestContext, 'freshUntil'>): string {
  if (scope === 'none') return 'no-store';
  const freshS = Math.floor((freshUntil - Date.now()) / 1_000);
  return freshS > 0 ? `${scope}, max-age=${Math.min(freshS, maxAgeS)}` : 'no-store';
}

/** Also the time to live of computed values, which change only with a release. */
const maxAgeS = 86_400;
