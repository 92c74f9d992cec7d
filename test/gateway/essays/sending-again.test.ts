import { expect, it } from 'vitest';
import { createLog } from '../../../src/base/log.ts';
import { createPaidEssays } from '../../../src/gateway/essays/paid-essays.ts';
import type { KeyedOrder } from '../../../src/gateway/essays/port.ts';
import type { Store } from '../../../src/gateway/stores/store.ts';
import { createLogEvents } from '../../../src/gateway/telemetry/log-events.ts';
import type { FailureReason, Outcome } from '../../../src/gateway/upstream/outcome.ts';
import { modeNames, order } from '../../support/gateway/essays/generator.ts';
import { ann, from, pass, tBook, useFakeTime } from '../../support/gateway/essays/orders.ts';
import { createMemoryStore } from '../../support/gateway/stores/memory-store.ts';
import { received, tAllowance, tOrders } from '../../support/gateway/upstream/send.ts';

/* Which failed orders are sent again with their key: by what the service has said, not by when the client asks. */

useFakeTime();

const events = createLogEvents(createLog({ level: 'silent', redact: (text) => text }));

interface TOptions {
  /** ESSAY_TEXT_FIELD. */
  texts?: string[] | null;
  /** Whether a connection to the service is made. */
  isSent?: boolean;
}

/** A gateway that starts with this store, and a hosted service whose calls all have this outcome. */
function tStart(store: Store, outcome: Outcome, { texts = null, isSent = true }: TOptions = {}) {
  let calls = 0;
  const upstream = { url: 'http://127.0.0.1', apiKey: 'key' };
  const orders = { maxRunning: 50, maxPerCaller: 50, cancelsSent: false };
  const essays = { upstream, modeNames, declared: { texts, error: null }, keepDays: 1, orders };
  const paid = createPaidEssays({
    client: tOrders(outcome, {
      isOpen: isSent,
      onSend() {
        calls += 1;
      },
    }),
    config: { essays } as Options['config'],
    allowance: tAllowance(),
    budgets: { reserve: () => null, findRefusal: async () => null },
    isWithdrawn: () => false,
    redact: (text) => text,
    events,
    store,
    onRecovered: () => {},
  });
  return { ...tBook(paid), calls: () => calls };
}

type Options = Parameters<typeof createPaidEssays>[0];

const failedBy = (reason: FailureReason, text = ''): Outcome => ({ kind: 'failed', reason, text });
const unreadable = received(200, '{"work":{"no":7,"piece":"Pens."}}');
const keyed = (idempotencyKey: string, orderAgain = false): KeyedOrder => ({ ...order, idempotencyKey, orderAgain });
const tenKeys = (name: string) => Array.from({ length: 10 }, (_, index) => `${name}-${index}`);

it('makes thirty calls for thirty orders without a known outcome, however often they are repeated', async () => {
  const store = createMemoryStore();
  let calls = 0;
  let callsWithConsent = 0;
  for (const [name, outcome, rawText] of [
    ['unreadable', unreadable, '{"work":{"no":7,"piece":"Pens."}}'],
    ['late', failedBy('timed-out'), null],
    ['reset', failedBy('reset'), null],
  ] as const) {
    const before = tStart(store, outcome);
    const after = tStart(store, outcome);
    for (const key of tenKeys(name)) {
      const first = await before.generate(keyed(key), from());
      expect(first).toMatchObject({ kind: 'service-failed', retryable: false, rawText });
      for (const _ of [1, 2, 3, 4, 5]) expect(await before.generate(keyed(key), from())).toEqual(first);
      expect(await after.generate(keyed(key), from())).toEqual(first);
      expect(await after.orders.start(keyed(key), ann)).toMatchObject({ state: { kind: 'failed', failure: first } });
      await pass(0);
    }
    calls += before.calls() + after.calls();
    for (const key of tenKeys(name)) await after.generate(keyed(key, true), from());
    for (const key of tenKeys(name)) await after.generate(keyed(key), from());
    callsWithConsent += before.calls() + after.calls();
  }
  expect([calls, callsWithConsent]).toEqual([30, 60]);
});

it('makes ten calls for ten started orders, and one more for each with orderAgain', async () => {
  const store = createMemoryStore();
  const before = tStart(store, failedBy('timed-out'));
  const after = tStart(store, failedBy('timed-out'));
  const run = async ({ orders }: typeof before, orderAgain = false) => {
    for (const key of tenKeys('started'))
      expect(await orders.start(keyed(key, orderAgain), ann)).toHaveProperty('state');
    await pass(0);
  };
  for (const _ of [1, 2, 3, 4, 5, 6]) await run(before);
  await run(after);
  for (const key of tenKeys('started')) {
    expect(await after.generate(keyed(key), from())).toMatchObject({ code: 'UPSTREAM_TIMED_OUT', retryable: false });
  }
  expect([before.calls(), after.calls()]).toEqual([10, 0]);
  await run(after, true);
  expect([before.calls(), after.calls()]).toEqual([10, 10]);
});

it.each<[string, Outcome, number, object]>([
  ['a whole 2xx without an essay', unreadable, 1, { retryable: false }],
  ['a redirection', received(302, ''), 1, { retryable: false, rawText: null }],
  ['a truncated 2xx', failedBy('truncated', '{"essay":"Pe'), 1, { retryable: false, rawText: '{"essay":"Pe' }],
  ['a 2xx that is too large', failedBy('too-large', 'Pens'), 1, { retryable: false, rawText: 'Pens' }],
  ['a timeout', failedBy('timed-out'), 1, { retryable: false, code: 'UPSTREAM_TIMED_OUT' }],
  ['a reset', failedBy('reset'), 1, { retryable: false }],
  ['invalid HTTP', failedBy('invalid'), 1, { retryable: false }],
  ['a 400', received(400, '{"message":"No."}'), 2, { kind: 'invalid-input' }],
  ['a 404', received(404, ''), 2, { code: 'UPSTREAM_FAILED', retryable: false }],
  ['a 429', received(429, ''), 2, { kind: 'allowance-exhausted' }],
  ['a 500', received(500, ''), 2, { retryable: true }],
  ['a 504', received(504, ''), 2, { code: 'UPSTREAM_TIMED_OUT', retryable: true }],
  ['a quota in a 200', received(200, '{"message":"Monthly quota exceeded."}'), 2, { kind: 'allowance-exhausted' }],
  ['a service that is not reached', failedBy('unreachable'), 0, { retryable: true }],
])('repeated once after %s, an order makes so many calls', async (_, outcome, count, failure) => {
  const { generate, calls } = tStart(createMemoryStore(), outcome);
  for (const _ of ['first', 'again']) expect(await generate(keyed('a'), from())).toMatchObject(failure);
  expect(calls()).toBe(count);
});

it('sends an order again whose time was over before it was sent', async () => {
  const { generate } = tStart(createMemoryStore(), failedBy('timed-out'), { isSent: false });
  for (const _ of ['first', 'again'])
    expect(await generate(keyed('a'), from())).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', retryable: true });
});

it('keeps what was received if an accepted second payment is not sent', async () => {
  const store = createMemoryStore();
  const first = await tStart(store, unreadable).generate(keyed('a'), from());
  const { generate } = tStart(store, { kind: 'shed' });
  expect(await generate(keyed('a', true), from())).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', retryable: true });
  expect(await generate(keyed('a'), from())).toEqual(first);
});

it('rejects a different order with the key of an order that may have been paid for', async () => {
  const { generate, calls } = tStart(createMemoryStore(), failedBy('timed-out'));
  await generate(keyed('a'), from());
  expect(await generate({ ...keyed('a'), wordCount: 5 }, from())).toMatchObject({
    problems: [{ field: 'idempotencyKey' }],
  });
  expect(calls()).toBe(1);
});

it('delivers a stored body as the essay once its field is declared, without a call', async () => {
  const store = createMemoryStore();
  await tStart(store, unreadable).orders.start(keyed('a'), ann);
  await pass(0);
  const { generate, find, orders, calls } = tDeclared(store);
  const essay = await generate(keyed('a'), from());
  expect(essay).toMatchObject({ kind: 'essay', text: 'Pens.', wordCount: 1 });
  const { id } = essay as Extract<typeof essay, { kind: 'essay' }>;
  expect(await find(id, from())).toEqual(essay);
  expect(await orders.findByKey('a', ann.id)).toMatchObject({ state: { kind: 'finished', essayId: id } });
  expect(await generate(keyed('a'), from())).toEqual(essay);
  expect(calls()).toBe(0);
});

it('does not read a truncated body again', async () => {
  const store = createMemoryStore();
  const truncated = failedBy('truncated', '{"work":{"piece":"Pens."}}\n{"work":{"piece":"Ink');
  const first = await tStart(store, truncated).generate(keyed('a'), from());
  const { generate, calls } = tDeclared(store);
  expect(await generate(keyed('a'), from())).toEqual(first);
  expect(calls()).toBe(0);
});

function tDeclared(store: Store) {
  return tStart(store, unreadable, { texts: ['work.piece'] });
}
