import { describe, expect, it } from 'vitest';
import { conditions, isUnreachable, operations } from '../support/failures/operations.ts';
import { tFakeClock, tScenario } from '../support/failures/scenario.ts';

/*
 * Every operation under every condition: the answer, the upstream calls and the time it needs, as in the tables of
 * `expectations.ts`; and that neither the answer nor the log contains keys, addresses, IBANs or text of the upstream.
 */

describe.each(operations)('$name', (operation) => {
  const { table, next, isAffected, service, ibans } = operation;

  it.each(conditions)('has its expected result under the condition %s', async (condition) => {
    const [result, calls, afterMs, pause] = table[condition];
    const isReachable = !isUnreachable(condition);
    const clock = tFakeClock();
    const scenario = await tScenario(clock);

    await scenario.fail(condition, isAffected);
    const outcome = await scenario.send(operation);
    expect(outcome).toEqual({ answer: operation.answer(result, isReachable), calls, afterMs });
    expect(scenario.callsArrived()).toBe(isReachable ? calls : 0);
    await scenario.untilHungUp();

    await scenario.recover(condition);
    if (pause) {
      clock.advance(pause.forMs - 1);
      expect(await scenario.send(next)).toEqual({ answer: next.answer(pause.result, true), calls: 0, afterMs: 0 });
      clock.advance(1);
    }
    const [success] = table['200'];
    expect(await scenario.send(next)).toEqual({ answer: next.answer(success, true), calls: 1, afterMs: 0 });

    scenario.expectNothingLeaked(outcome.answer, ibans);
    scenario.expectLoggedErrors(service, condition);
    await scenario.expectNothingUnhandled();
  });
});
