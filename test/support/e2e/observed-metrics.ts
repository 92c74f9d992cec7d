import type { Scraped } from '../gateway/telemetry/scrape.ts';

/* Readers of the metrics that tell what happened. */

export const path = '/bank_data/iban_validate';
const endpoint = { service: 'bank-data', endpoint: path };

export const circuit = ({ value }: Scraped) =>
  ['closed', 'open', 'half_open'].find((state) => value('ledgerquill_circuit_breaker_state', { ...endpoint, state }));
export const circuitChanges = ({ value }: Scraped) =>
  ['open', 'half_open', 'closed'].map(
    (state) => value('ledgerquill_circuit_breaker_transitions_total', { ...endpoint, state }) ?? 0,
  );
export const lookUps = ({ value }: Scraped) =>
  ['hit', 'stale', 'miss'].map((result) => value('ledgerquill_cache_look_ups_total', { result }));
export const operations = ({ value }: Scraped) =>
  ['answered', 'failed', 'shed', 'exhausted'].map((outcome) =>
    value('ledgerquill_upstream_operations_total', { service: 'bank-data', outcome }),
  );
export const paidCalls = ({ value }: Scraped) => value('ledgerquill_paid_calls_total', { service: 'bank-data' });
export const essays = ({ value }: Scraped) =>
  ['generated', 'from_key', 'failed'].map((outcome) => value('ledgerquill_essays_total', { outcome }));
export const errors = ({ value }: Scraped, code: string) => value('ledgerquill_graphql_errors_total', { code });
export const remaining = ({ value }: Scraped) =>
  ['bank-data', 'essays'].map((service) => value('ledgerquill_allowance_remaining', { service }));
