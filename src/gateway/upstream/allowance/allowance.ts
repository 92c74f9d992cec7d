import { answerWithin } from '../../../base/async/pause.ts';
import type { ServiceName } from '../../../base/errors.ts';
import type { Events } from '../../telemetry/events.ts';
import { type CountOptions, createPeriodCount, type PeriodStatus } from './period-count.ts';

export interface AllowanceStatus extends PeriodStatus {
  service: ServiceName;
}

export type Allowance = ReturnType<typeof createAllowance>;

interface AllowanceOptions
  extends Pick<CountOptions, 'store' | 'replicas' | 'limit'>,
    Partial<Pick<CountOptions, 'maxWaitMs'>> {
  service: ServiceName;
  events: Pick<Events, 'allowanceNearlyExhausted' | 'allowanceNotStored' | 'allowanceCorrected' | 'countRestored'>;
}

/**
 * The calls to one upstream in a calendar month (UTC), over all processes that share the store. None of its functions rejects.
 * Two limits apply: the configured one, and the one that the upstream reports in its headers, which also counts the calls of
 * other users of the same key. While the store fails, each process counts in memory from the last known count, and adds its own
 * calls to the store once it works again. If the store is shared, each process then uses at most an equal share of what was left,
 * and none if it never reached it.
 */
export function createAllowance({ service, maxWaitMs = null, events, ...options }: AllowanceOptions) {
  let isStoreUp = true;
  const count = createPeriodCount({
    ...options,
    key: `allowance:${service}`,
    period: 'month',
    maxWaitMs,
    onNearlyExhausted: (percent) => events.allowanceNearlyExhausted(service, percent),
    onStoreFailed(reason) {
      if (isStoreUp) events.allowanceNotStored(service, reason);
      isStoreUp = false;
    },
    onStoreRecovered() {
      isStoreUp = true;
    },
    onRestored: (calls) => events.countRestored(service, calls),
  });
  return {
    ...count,
    service,
    /** By the operator. @throws StoreError */
    async correct(change: (counted: number) => number): Promise<void> {
      const { from, to } = await count.correct(change);
      events.allowanceCorrected(service, from, to);
    },
    /** Null while its count is not known. */
    async status(): Promise<AllowanceStatus | null> {
      const status = await count.status();
      return status && { service, ...status };
    },
    /** If the store does not answer in time, what this process knows; null if it has never read it. */
    async statusWithin(maxWaitMs: number): Promise<AllowanceStatus | null> {
      const status = (await answerWithin(count.status(), maxWaitMs)) ?? count.known();
      return status && { service, ...status };
    },
  };
}
