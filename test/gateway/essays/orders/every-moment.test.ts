import { describe, expect, it } from 'vitest';
import { toOrderId } from '../../../../src/gateway/essays/orders/order-record.ts';
import type { EssayResult } from '../../../../src/gateway/essays/port.ts';
import type { Store } from '../../../../src/gateway/stores/store.ts';
import { failed, order, tEssay, timedOut } from '../../../support/gateway/essays/generator.ts';
import { ann, listOrders, tOrders } from '../../../support/gateway/essays/orders.ts';
import { from, pass, useFakeTime } from '../../../support/gateway/essays/processes.ts';
import { createMemoryStore } from '../../../support/gateway/stores/memory-store.ts';

/* Something happens before each operation on the store, one after the other, until an order has no more of them. */

useFakeTime();

const id = toOrderId('a', ann.id);
const keyed = { ...order, idempotencyKey: 'a' };

type Process = ReturnType<typeof tOrders>;

/** A store before whose n-th operation something happens, counted from `begin`. */
function tInterrupted(memory: Store, moment: number) {
  let operations = Number.NEGATIVE_INFINITY;
  let happen = () => {};
  const count = <Args extends unknown[], Result>(operate: (...args: Args) => Result) => {
    return (...args: Args) => {
      operations += 1;
      if (operations === moment) happen();
      return operate(...args);
    };
  };
  const { get, set, replace, add } = memory;
  const store: Store = {
    ...memory,
    get: count(get),
    set: count(set),
    replace: count(replace),
    delete: count(memory.delete),
    add: count(add),
  };
  const begin = (happening: () => void) => {
    operations = 0;
    happen = happening;
  };
  return { store, begin, hasHappened: () => operations >= moment };
}

/** @param run with the number of a moment @returns how many moments there were */
async function atEveryMoment(run: (moment: number) => Promise<boolean>): Promise<number> {
  for (let moment = 1; moment < 200; moment += 1) if (!(await run(moment))) return moment - 1;
  throw new Error('The order does not end.');
}

describe.each([false, true])('cancelling an order, with ESSAY_CANCEL_SENT %s', (cancelsSent) => {
  it('at any moment says what was sent, and is true to its answer', async () => {
    const kinds = new Set<string>();
    const moments = await atEveryMoment(async (moment) => {
      const { store, begin, hasHappened } = tInterrupted(createMemoryStore(), moment);
      const { orders, calls, stateOf, ...process } = tOrders({ store, cancelsSent });
      let cancelling: ReturnType<typeof orders.cancel> | undefined;
      begin(() => {
        cancelling = orders.cancel(id, ann.id);
      });
      const ordered = await process.start('a');
      calls[0]?.answer(tEssay());
      await pass(4_000);
      const answer = await cancelling;
      const state = await stateOf(ordered);
      expect(state?.kind, `moment ${moment}`).toMatch(/^(finished|cancelled)$/);
      if (answer) expect(answer.isCancelled, `moment ${moment}`).toBe(state?.kind === 'cancelled');
      // It may also be cancelled after it was recorded as sent, and before it was sent.
      if (state?.kind === 'cancelled' && !state.mayHaveBeenPaid) expect(calls, `moment ${moment}`).toEqual([]);
      if (state?.kind === 'finished') expect(calls, `moment ${moment}`).toHaveLength(1);
      kinds.add(`${state?.kind} ${calls.length}`);
      await orders.stop();
      return hasHappened();
    });
    expect(moments).toBeGreaterThan(20);
    const sent = cancelsSent ? ['cancelled 1'] : [];
    expect([...kinds].sort()).toEqual(['cancelled 0', ...sent, 'finished 1']);
  });
});

describe('deleting an order at any moment', () => {
  it.each([
    ['that was started', ({ orders }: Process) => orders.start(keyed, ann)],
    ['whose client waits for it', ({ essays }: Process) => essays.generate(keyed, from())],
  ])('deletes all of it, or nothing: %s', async (_, run) => {
    const answers = new Set<string>();
    const moments = await atEveryMoment(async (moment) => {
      const memory = createMemoryStore();
      const { store, begin, hasHappened } = tInterrupted(memory, moment);
      const [here, there] = [tOrders({ store }), tOrders({ store: memory })];
      let deleting: Promise<string> | undefined;
      begin(() => {
        deleting = there.orders.delete(id, ann.id);
      });
      const ended = run(here);
      await pass(0);
      const essay = tEssay();
      here.calls[0]?.answer(essay);
      await ended;
      await pass(2_000);
      const answer = await deleting;
      const found = await there.orders.findByKey('a', ann.id);
      const listed = await listOrders(there.orders, {});
      const kept = await there.essays.archive.find(essay.id, from());
      if (answer) answers.add(answer);
      const expected = answer === 'deleted' ? null : { state: { kind: 'finished', essayId: essay.id } };
      if (expected === null) expect(found, `moment ${moment}`).toBeNull();
      else expect(found, `moment ${moment}`).toMatchObject(expected);
      expect(listed.entries, `moment ${moment}`).toHaveLength(expected === null ? 0 : 1);
      expect(kept === null, `moment ${moment}`).toBe(expected === null);
      expect([...here.calls, ...there.calls]).toHaveLength(1);
      await Promise.all([here.orders.stop(), there.orders.stop()]);
      return hasHappened();
    });
    expect(moments).toBeGreaterThan(10);
    expect([...answers].sort()).toEqual(['deleted', 'not-ended', 'unknown']);
  });
});

describe('a crash at any moment', () => {
  it.each([
    ['started', ({ orders }: Process) => orders.start(keyed, ann)],
    ['awaited', ({ essays }: Process) => essays.generate(keyed, from())],
  ])('does not let an order be sent twice, and shows how it ended: %s', async (_, run) => {
    const ends = new Set<string>();
    const moments = await atEveryMoment(async (moment) => {
      const memory = createMemoryStore();
      const { store, begin, hasHappened } = tInterrupted(memory, moment);
      const [here, there] = [tOrders({ store }), tOrders({ store: memory })];
      begin(here.crash);
      const first = Promise.resolve(run(here)).catch(() => null);
      await pass(0);
      here.calls[0]?.answer(timedOut);
      await first;
      await pass(30_000);
      // The client orders again, whether or not it has received the failure.
      const again = there.essays.generate(keyed, from());
      await pass(10_000);
      there.calls[0]?.answer(tEssay());
      const result = await again;
      const state = (await there.orders.findByKey('a', ann.id))?.state;
      expect(state?.kind, `moment ${moment}`).toBe(result.kind === 'essay' ? 'finished' : 'failed');
      ends.add(`${here.calls.length} ${there.calls.length} ${state?.kind}`);
      await Promise.all([here.orders.stop(), there.orders.stop()]);
      await here.essays.close();
      return hasHappened();
    });
    expect(moments).toBeGreaterThan(10);
    expect([...ends].sort()).toEqual(['0 1 finished', '1 0 failed']);
  });
});

describe('a store that fails from any moment of a start on', () => {
  it.each([false, true])('hides no order that was accepted, also if it replaces one: %s', async (isAgain) => {
    const answers = new Set<string>();
    const moments = await atEveryMoment(async (moment) => {
      const { store, begin, hasHappened } = tInterrupted(createMemoryStore(), moment);
      const { orders, calls, loseStore, findStore, essays } = tOrders({ store });
      if (isAgain) {
        await orders.start(keyed, ann);
        await pass(0);
        calls.at(-1)?.answer({ ...failed, code: 'UPSTREAM_UNAVAILABLE' } as EssayResult);
        await pass(1_000);
      }
      let isStarting = true;
      begin(() => {
        if (isStarting) loseStore();
      });
      const started = await orders.start({ ...keyed, orderAgain: isAgain }, ann);
      isStarting = false;
      findStore();
      const { waiting, running } = orders.status();
      const isAccepted = !('kind' in started);
      // An order that runs was not refused, and the client of one that was accepted finds it: it runs, or has failed unsent.
      if (!isAccepted) expect(waiting + running, `moment ${moment}`).toBe(0);
      const { entries } = await listOrders(orders, {});
      if (isAccepted) expect(entries, `moment ${moment}`).toHaveLength(1);
      answers.add(isAccepted ? 'accepted' : 'refused');
      await pass(10_000);
      for (const call of calls) call.answer(tEssay());
      await pass(2_000);
      await orders.stop();
      await essays.close();
      return hasHappened();
    });
    expect(moments).toBeGreaterThan(5);
    expect([...answers].sort()).toEqual(['accepted', 'refused']);
  });
});
