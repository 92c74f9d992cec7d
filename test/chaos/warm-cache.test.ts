import { beforeEach, describe, expect, it, vi } from 'vitest';
import { tChaos } from './chaos.ts';
import { type Condition, conditions } from './conditions.ts';
import { ibanTable } from './expectations.ts';
import { type FakeClock, tFakeClock } from './fake-clock.ts';
import { single } from './operations.ts';

/* The same misfortunes, at an IBAN whose answer is known from two days ago: past its time, but better than none. */

const twoDaysMs = 2 * 86_400_000;
/** What the service answers is believed, also where it says something else than before. */
const answered: readonly Condition[] = ['200', '422'];

// What hangs ends here; how long it may take is asserted otherwise.
vi.setConfig({ testTimeout: 10_000 });

let clock: FakeClock;
beforeEach(() => {
  clock = tFakeClock();
  return clock.stop;
});

describe('a single IBAN whose stale answer is known', () => {
  it.each(conditions)('is answered from the cache when it meets %s', async (condition) => {
    const [known] = ibanTable['200'];
    const [told, calls, , quiet] = ibanTable[condition];
    const chaos = await tChaos(clock);
    expect(await chaos.ask(single)).toEqual({ answer: single.answer(known, true), calls: 1, afterMs: 0 });

    clock.jump(twoDaysMs);
    await chaos.strike(condition, single.isStruck);
    const answer = await chaos.askAtOnce(single);
    expect(answer).toEqual(single.answer(known, true));

    // Meanwhile it is asked anew, at the same price. That this fails is not seen.
    await chaos.untilCallsEnded(1 + calls);
    await chaos.untilHungUp();

    // Nor has it cost what was known: that is there at once again, however long the service now takes.
    await chaos.heal(condition);
    await chaos.strike('slow headers', single.isStruck);
    const later = await chaos.askAtOnce(single);
    const isAnswered = answered.includes(condition);
    expect(later).toEqual(single.answer(isAnswered ? told : known, true));
    const again = isAnswered || quiet ? 0 : 1;
    await chaos.untilCallsEnded(1 + calls + again);

    chaos.expectNothingLeaked([answer, later], single.ibans);
    await chaos.expectNothingUnhandled();
    expect(chaos.callsEnded()).toBe(1 + calls + again);
  });
});
