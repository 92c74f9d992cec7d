import type { Events } from '../events.ts';
import { createRequestMetrics } from './request-metrics.ts';
import { createUpstreamMetrics } from './upstream-metrics.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/** Counts events as plain numbers; `createExposition` reads them when they are scraped. */
export function createMetrics() {
  const requests = createRequestMetrics();
  const upstreams = createUpstreamMetrics(requests);
  const events: Partial<Events> = { ...requests.events, ...upstreams.events };
  return { events, collectors: { ...requests.collectors, ...upstreams.collectors } };
}
