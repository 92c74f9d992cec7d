import { describe, expect, it } from 'vitest';
import { type Condition, conditions, iban, ibanTable } from '../support/failures/operations.ts';
import { tFakeClock, tScenario } from '../support/failures/scenario.ts';

/* The same conditions for an IBAN whose answer was cached two days ago: stale, but still served. */

const twoDaysMs = 2 * 86_400_000;
/** The service answered, so its answer replaces the cached one. */
const answered: readonly Condition[] = ['200', '422'];

describe('one IBAN with a stale answer in the cache', () => {
  it.each(conditions)('is answered from the cache under the condition %s', async (condition) => {
    const [cached] = ibanTable['200'];
    const [result, calls, , pause] = ibanTable[condition];
    const clock = tFakeClock();
    const scenario = await tScenario(clock);
    expect(await scenario.send(iban)).toEqual({ answer: iban.answer(cached, true), calls: 1, afterMs: 0 });

    clock.jump(twoDaysMs);
    await scenario.fail(condition, iban.isAffected);
    const answer = await scenario.sendAtOnce(iban);
    expect(answer).toEqual(iban.answer(cached, true));

    // Revalidation costs the usual number of calls. Its failure is not shown.
    await scenario.untilCallsEnded(1 + calls);
    await scenario.untilHungUp();

    // The cached answer outlives the failure, and is served at once while the next revalidation is slow.
    await scenario.recover(condition);
    await scenario.fail('slow headers', iban.isAffected);
    const later = await scenario.sendAtOnce(iban);
    const isAnswered = answered.includes(condition);
    expect(later).toEqual(iban.answer(isAnswered ? result : cached, true));
    const callsInAll = 1 + calls + (isAnswered || pause ? 0 : 1);
    await scenario.untilCallsEnded(callsInAll);

    scenario.expectNothingLeaked([answer, later], iban.ibans);
    scenario.expectLoggedErrors(iban.service, condition);
    await scenario.expectNothingUnhandled();
    expect(scenario.callsEnded()).toBe(callsInAll);
  });
});
