import type { Store } from '../../../src/stores/store.ts';
import { type Allowance, createAllowance, type UsedUp } from '../../../src/upstream/allowance/allowance.ts';
import type { Taken } from '../../../src/upstream/allowance/monthly-count.ts';
import { createMemoryStore } from '../../stores/memory-store.ts';

interface TAllowanceOptions {
  store?: Store;
  limit?: number | null;
  clock?: { time: number };
}

/** 21 November 2026. */
export const tNovember = () => ({ time: Date.UTC(2026, 10, 21) });

/** An allowance of one process, and what it tells. */
export function tAllowance({ store = createMemoryStore(), limit = 100, clock = tNovember() }: TAllowanceOptions = {}) {
  const told: string[] = [];
  const allowance = createAllowance({
    service: 'essays',
    limit,
    store,
    now: () => clock.time,
    events: {
      allowanceNearlyExhausted: (service, percent) => told.push(`${service}: ${percent} %`),
      allowanceNotStored: (service, reason) => told.push(`${service}: ${reason}`),
    },
  });
  return { ...allowance, told };
}

export async function takeMany(allowance: Allowance, number: number): Promise<(Taken | UsedUp)[]> {
  return Promise.all(Array.from({ length: number }, () => allowance.take()));
}

export async function takeOne(allowance: Allowance): Promise<Taken> {
  const place = await allowance.take();
  if (place.kind === 'taken') return place;
  throw new Error('Nothing was left');
}

export function takenOf(places: (Taken | UsedUp)[]): Taken[] {
  return places.filter((place) => place.kind === 'taken');
}

export function monthHeaders(limit: number, remaining: number): Record<string, string> {
  return { 'x-ratelimit-limit-month': String(limit), 'x-ratelimit-remaining-month': String(remaining) };
}
