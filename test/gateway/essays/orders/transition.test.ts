import { describe, expect, it } from 'vitest';
import {
  type EndedState,
  isHidden,
  needsConsent,
  type OrderEvent,
  type OrderRecord,
  toOrderId,
  toResult,
  transition,
} from '../../../../src/gateway/essays/orders/order-record.ts';
import type { EssayFailure } from '../../../../src/gateway/essays/port.ts';
import { failed, order, tEssay, timedOut, unknownOutcome } from '../../../support/gateway/essays/generator.ts';
import { ann } from '../../../support/gateway/essays/orders.ts';

/* Every state of an order, and what each event makes of it. */

const keyed = { ...order, idempotencyKey: 'form-1' };
const refused = failed as EssayFailure;
const unknown = timedOut as EssayFailure;
const essay = tEssay();

function tRecord(state: OrderRecord['state'], changes: Partial<OrderRecord> = {}): OrderRecord {
  const run = { process: 'one', run: 'run-1', attempts: 0, isCancelRequested: false, isRepeated: false, earlier: null };
  const id = toOrderId('form-1', ann.id);
  return {
    id,
    createdAt: new Date(0),
    order: keyed,
    caller: ann,
    isAwaited: false,
    listed: 1,
    ...run,
    state,
    ...changes,
  };
}

const queued = tRecord({ kind: 'queued' });
const states: Record<string, OrderRecord | null> = {
  none: null,
  queued,
  awaited: { ...queued, isAwaited: true },
  again: {
    ...queued,
    earlier: { order: keyed, isAwaited: false, attempts: 1, state: { kind: 'failed', failure: unknown } },
  },
  sent: tRecord({ kind: 'sent' }, { attempts: 1 }),
  finished: tRecord({ kind: 'finished', essay }, { attempts: 1 }),
  refused: tRecord({ kind: 'failed', failure: refused }, { attempts: 1 }),
  unknown: tRecord({ kind: 'failed', failure: unknown }, { attempts: 1 }),
  abandoned: tRecord({ kind: 'failed', failure: null }, { attempts: 1 }),
  cancelled: tRecord({ kind: 'cancelled', mayHaveBeenPaid: false }),
  paidFor: tRecord({ kind: 'cancelled', mayHaveBeenPaid: true }, { attempts: 1 }),
};

const next = (changes: Partial<OrderRecord> = {}) =>
  tRecord({ kind: 'queued' }, { run: 'run-2', process: 'two', ...changes });
const different = { ...keyed, wordCount: 5 };
const consenting = { ...keyed, orderAgain: true };
const own = (record: OrderRecord | null) => record ?? queued;
const events: Record<string, (record: OrderRecord | null) => OrderEvent> = {
  generated: () => ({ kind: 'ordered', next: next({ isAwaited: true }) }),
  'generated again': () => ({ kind: 'ordered', next: next({ isAwaited: true, order: consenting }) }),
  'generated differently': () => ({ kind: 'ordered', next: next({ isAwaited: true, order: different }) }),
  started: () => ({ kind: 'ordered', next: next() }),
  'started again': () => ({ kind: 'ordered', next: next({ order: consenting }) }),
  sending: (record) => ({ kind: 'sending', own: own(record), mayBeLost: true }),
  'sending elsewhere': () => ({ kind: 'sending', own: next(), mayBeLost: true }),
  essay: (record) => ({ kind: 'answered', own: own(record), state: { kind: 'finished', essay } }),
  'essay elsewhere': () => ({ kind: 'answered', own: next(), state: { kind: 'finished', essay } }),
  failure: (record) => ({ kind: 'answered', own: own(record), state: { kind: 'failed', failure: refused } }),
  'failure elsewhere': () => ({ kind: 'answered', own: next(), state: { kind: 'failed', failure: refused } }),
  unsent: (record) => ({ kind: 'unsent', own: own(record), failure: refused }),
  left: (record) => ({ kind: 'unsent', own: own(record), failure: null }),
  cancelled: () => ({ kind: 'cancelled', cancelsSent: false }),
  'cancelled though sent': () => ({ kind: 'cancelled', cancelsSent: true }),
  'asked to cancel': () => ({ kind: 'cancel-requested' }),
  released: (record) => ({ kind: 'released', own: own(record) }),
  'taken over': (record) => ({ kind: 'taken-over', seen: own(record), by: { process: 'two', run: 'run-2' } }),
  repeated: (record) => ({ kind: 'repeated', seen: own(record) }),
  'taken back': (record) => ({ kind: 'refused', own: own(record), before: null }),
  lost: (record) => ({ kind: 'lost', own: own(record) }),
};

/** A record in one word; with its run if that is another one than before. */
function describeRecord(record: OrderRecord | null): string {
  if (record === null) return 'none';
  const known = Object.entries(states).find(
    ([, state]) => JSON.stringify(state?.state) === JSON.stringify(record.state),
  );
  const kind = record.state.kind === 'queued' ? queuedAs(record) : (known?.[0] ?? record.state.kind);
  return record.run === 'run-1' ? kind : `${kind} by 2`;
}

function queuedAs({ isAwaited, earlier, process }: OrderRecord): string {
  const words = [isAwaited ? 'awaited' : 'queued'];
  if (earlier) words.push('after failure');
  if (process === null) words.push('released');
  return words.join(' ');
}

/** What events make of an order, by its state. All others change nothing. */
const table: Record<string, Record<string, string>> = {
  none: {
    generated: 'awaited by 2',
    'generated again': 'awaited by 2',
    'generated differently': 'awaited by 2',
    started: 'queued by 2',
    'started again': 'queued by 2',
    sending: 'sent',
    'sending elsewhere': 'sent by 2',
    essay: 'finished',
    'essay elsewhere': 'finished by 2',
    failure: 'refused',
    'failure elsewhere': 'refused by 2',
    lost: 'queued',
  },
  queued: {
    sending: 'sent',
    essay: 'finished',
    'essay elsewhere': 'finished',
    failure: 'refused',
    unsent: 'refused',
    left: 'queued',
    cancelled: 'cancelled',
    'cancelled though sent': 'cancelled',
    released: 'queued released',
    'taken over': 'queued by 2',
    repeated: 'queued',
    'taken back': 'none',
  },
  awaited: {
    started: 'queued',
    'started again': 'queued',
    sending: 'sent',
    essay: 'finished',
    'essay elsewhere': 'finished',
    failure: 'refused',
    unsent: 'refused',
    left: 'cancelled',
    released: 'awaited released',
    'taken over': 'cancelled',
    repeated: 'awaited',
    'taken back': 'none',
  },
  again: {
    sending: 'sent',
    essay: 'finished',
    'essay elsewhere': 'finished',
    failure: 'refused',
    unsent: 'unknown',
    left: 'queued after failure',
    cancelled: 'paidFor',
    'cancelled though sent': 'paidFor',
    released: 'queued after failure released',
    'taken over': 'queued after failure by 2',
    repeated: 'queued after failure',
    'taken back': 'none',
  },
  sent: {
    sending: 'sent',
    essay: 'finished',
    'essay elsewhere': 'finished',
    failure: 'refused',
    unsent: 'refused',
    left: 'queued',
    'cancelled though sent': 'paidFor',
    'asked to cancel': 'sent',
    'taken over': 'abandoned',
  },
  finished: {},
  refused: {
    generated: 'awaited after failure by 2',
    'generated again': 'awaited after failure by 2',
    'generated differently': 'awaited after failure by 2',
    'started again': 'queued by 2',
    essay: 'finished',
    'essay elsewhere': 'finished',
  },
  unknown: {
    'generated again': 'awaited after failure by 2',
    'started again': 'queued after failure by 2',
    essay: 'finished',
    'essay elsewhere': 'finished',
  },
  abandoned: {
    'generated again': 'awaited after failure by 2',
    'started again': 'queued after failure by 2',
    essay: 'finished',
    'essay elsewhere': 'finished',
    failure: 'refused',
  },
  cancelled: {
    generated: 'awaited after failure by 2',
    'generated again': 'awaited after failure by 2',
    'generated differently': 'awaited after failure by 2',
    'started again': 'queued by 2',
    essay: 'finished',
    'essay elsewhere': 'finished',
  },
  paidFor: {
    'generated again': 'awaited after failure by 2',
    'started again': 'queued after failure by 2',
    essay: 'finished',
    'essay elsewhere': 'finished',
  },
};

describe.each(Object.keys(states))('an order that is %s', (name) => {
  it.each(Object.entries(events))('changes, or does not, when it is: %s', (event, toEvent) => {
    const record = states[name] ?? null;
    const before = JSON.stringify(record);
    const after = transition(record, toEvent(record));
    expect(after === record ? undefined : describeRecord(after)).toBe(table[name]?.[event]);
    expect(JSON.stringify(record)).toBe(before);
  });
});

it('is taken back to what it was before, unless another client has started it', () => {
  const awaited = { ...queued, isAwaited: true };
  expect(transition(queued, { kind: 'refused', own: awaited, before: null })).toBe(queued);
  const repeated = transition(queued, { kind: 'repeated', seen: queued });
  expect(transition(repeated, { kind: 'refused', own: queued, before: null })).toBe(repeated);
  const before = states.refused as OrderRecord;
  expect(transition(queued, { kind: 'refused', own: queued, before })).toBe(before);
});

it('is not sent by a process that has released it', () => {
  const released = transition(queued, { kind: 'released', own: queued });
  expect(transition(released, { kind: 'sending', own: queued, mayBeLost: false })).toBe(released);
});

it('counts each time that it is sent', () => {
  const sent = transition(queued, { kind: 'sending', own: queued, mayBeLost: false });
  expect(sent?.attempts).toBe(1);
  expect(transition(sent, { kind: 'sending', own: sent as OrderRecord, mayBeLost: false })?.attempts).toBe(2);
  expect(transition(sent, { kind: 'unsent', own: queued, failure: null })?.attempts).toBe(0);
});

it('takes back an order that another process has queued, while it was sent and the store had lost it', () => {
  const sent = states.sent as OrderRecord;
  expect(transition(next(), { kind: 'lost', own: sent })).toBe(sent);
  const sentElsewhere = next({ state: { kind: 'sent' } });
  expect(transition(sentElsewhere, { kind: 'lost', own: sent })).toBe(sentElsewhere);
});

it.each<[EndedState, unknown, boolean]>([
  [{ kind: 'finished', essay }, essay, false],
  [{ kind: 'failed', failure: refused }, refused, false],
  [{ kind: 'failed', failure: unknown }, unknown, true],
  [{ kind: 'failed', failure: null }, unknownOutcome, true],
  [{ kind: 'cancelled', mayHaveBeenPaid: true }, unknownOutcome, true],
  [{ kind: 'cancelled', mayHaveBeenPaid: false }, null, false],
])('has a result, and asks for consent if it may have been paid for: %j', (state, result, asks) => {
  expect(toResult(state)).toEqual(result);
  expect(needsConsent(state)).toBe(asks);
});

it('is seen by others from when it is sent, or if it was started', () => {
  const awaited = { ...queued, isAwaited: true };
  expect([queued, awaited, { ...awaited, attempts: 1, state: { kind: 'sent' as const } }].map(isHidden)).toEqual([
    false,
    true,
    false,
  ]);
});
