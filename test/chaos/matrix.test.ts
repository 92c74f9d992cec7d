import { beforeEach, describe, expect, it, vi } from 'vitest';
import { tChaos } from './chaos.ts';
import { conditions, isUnreachable } from './conditions.ts';
import { type FakeClock, tFakeClock } from './fake-clock.ts';
import { operations } from './operations.ts';

/*
 * Every way in which a call can end, at every kind of question: what the client is told, how many calls it costs and how
 * long it takes, as the tables of `expectations.ts` have it. Time is faked: what is asserted is how much of it was needed.
 */

// What hangs ends here; how long it may take is asserted otherwise.
vi.setConfig({ testTimeout: 10_000 });

let clock: FakeClock;
beforeEach(() => {
  clock = tFakeClock();
  return clock.stop;
});

describe.each(operations)('$name', (operation) => {
  const { table, next, isStruck, ibans } = operation;

  it.each(conditions)('that meets %s', async (condition) => {
    const [told, calls, afterMs, quiet] = table[condition];
    const isReachable = !isUnreachable(condition);
    const chaos = await tChaos(clock);

    await chaos.strike(condition, isStruck);
    const met = await chaos.ask(operation);
    expect(met).toEqual({ answer: operation.answer(told, isReachable), calls, afterMs });
    expect(chaos.callsArrived()).toBe(isReachable ? calls : 0);
    await chaos.untilHungUp();

    await chaos.heal(condition);
    if (quiet) {
      clock.pass(quiet.forMs - 1);
      expect(await chaos.ask(next)).toEqual({ answer: next.answer(quiet.told, true), calls: 0, afterMs: 0 });
      clock.pass(1);
    }
    const [healthy] = table['200'];
    expect(await chaos.ask(next)).toEqual({ answer: next.answer(healthy, true), calls: 1, afterMs: 0 });

    chaos.expectNothingLeaked(met.answer, ibans);
    await chaos.expectNothingUnhandled();
  });
});
