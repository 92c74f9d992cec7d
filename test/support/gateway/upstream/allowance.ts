import { beforeEach, vi } from 'vitest';
import type { Replicas } from '../../../../src/gateway/stores/gateway-count.ts';
import type { Store } from '../../../../src/gateway/stores/store.ts';
import { type Allowance, createAllowance } from '../../../../src/gateway/upstream/allowance/allowance.ts';
import type { Reservation } from '../../../../src/gateway/upstream/allowance/period-count.ts';
import type { Answered, ReadHeaders } from '../../../../src/gateway/upstream/outcome.ts';
import { createMemoryStore } from '../stores/memory-store.ts';

interface TAllowanceOptions {
  store?: Store;
  limit?: number | null;
  replicas?: number | Replicas;
  maxWaitMs?: number | null;
}

/** Sets the clock to 21 November 2026 for every test of a file. */
export function useNovember(): void {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-21') });
  });
}

/** The allowance of one process, and the events that it fires. */
export function tAllowance({
  store = createMemoryStore(),
  limit = 100,
  replicas = null,
  maxWaitMs = null,
}: TAllowanceOptions = {}) {
  const fired: string[] = [];
  const allowance = createAllowance({
    service: 'essays',
    limit,
    store,
    replicas: typeof replicas === 'number' ? () => replicas : replicas,
    maxWaitMs,
    events: {
      allowanceNearlyExhausted: (service, percent) => fired.push(`${service}: ${percent} %`),
      allowanceCorrected: () => {},
      allowanceNotStored: (service, reason) => fired.push(`${service}: ${reason}`),
      countRestored: (service, calls) => fired.push(`${service}: restored ${calls}`),
    },
  });
  return { ...allowance, fired };
}

/** Those that were reserved of so many at once. */
export async function reserveMany(allowance: Allowance, number: number): Promise<Reservation[]> {
  const results = await Promise.all(Array.from({ length: number }, () => allowance.reserve()));
  return results.filter((result) => result.kind === 'reserved');
}

export async function reserveOne(allowance: Allowance): Promise<Reservation> {
  const [reservation] = await reserveMany(allowance, 1);
  if (reservation) return reservation;
  throw new Error('the allowance is exhausted');
}

/** An allowance after a call with this answer; no limit is configured by default. */
export async function tAnswered(answer: Answered, options: TAllowanceOptions = {}) {
  const allowance = tAllowance({ limit: null, ...options });
  (await reserveOne(allowance)).recordAnswer(answer);
  return allowance;
}

export function monthHeaders(limit: number, remaining: number): ReadHeaders {
  return { limitMonth: String(limit), remainingMonth: String(remaining) };
}
