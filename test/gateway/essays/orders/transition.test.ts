import { describe, expect, it } from 'vitest';
import type { EssayFailure } from '../../../../src/gateway/essays/essays.ts';
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
import { failed, order, tEssay, timedOut, unknownOutcome } from '../../../support/gateway/essays/generator.ts';
import { ann } from '../../../support/gateway/essays/jobs.ts';

/* Every state of an order, and what each event makes of it. */

const keyed = { ...order, idempotencyKey: 'form-1' };
const refused = failed as EssayFailure;
const unknown = timedOut as EssayFailure;
const essay = tEssay();

function tRecord(state: OrderRecord['state'], changes: Partial<OrderRecord> = {}): OrderRecord {
  const run = { process: 'one', run: 'run-1', attempts: 0, isCancelRequested: false, earlier: null };
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
  abandoned: (record) => ({ kind: 'abandoned', seen: own(record), by: { process: 'two', run: 'run-2' } }),
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

const same = '=';
/** By state: what the events of the columns make of it. */
const columns = Object.keys(events);
const table: Record<string, string[]> = {
  none: [
    'awaited by 2',
    'awaited by 2',
    'awaited by 2',
    'queued by 2',
    'queued by 2',
    'sent',
    'sent by 2',
    'finished',
    'finished by 2',
    'refused',
    'refused by 2',
    same,
    same,
    same,
    same,
    same,
    same,
    same,
    'queued',
  ],
  queued: [
    same,
    same,
    same,
    same,
    same,
    'sent',
    same,
    'finished',
    'finished',
    'refused',
    same,
    'refused',
    'queued',
    'cancelled',
    'cancelled',
    same,
    'queued released',
    'queued by 2',
    same,
  ],
  awaited: [
    same,
    same,
    same,
    'queued',
    'queued',
    'sent',
    same,
    'finished',
    'finished',
    'refused',
    same,
    'refused',
    'cancelled',
    same,
    same,
    same,
    'awaited released',
    'cancelled',
    same,
  ],
  again: [
    same,
    same,
    same,
    same,
    same,
    'sent',
    same,
    'finished',
    'finished',
    'refused',
    same,
    'unknown',
    'queued after failure',
    'paidFor',
    'paidFor',
    same,
    'queued after failure released',
    'queued after failure by 2',
    same,
  ],
  sent: [
    same,
    same,
    same,
    same,
    same,
    'sent',
    same,
    'finished',
    'finished',
    'refused',
    same,
    'refused',
    'queued',
    same,
    'paidFor',
    'sent',
    same,
    'abandoned',
    same,
  ],
  finished: Array(19).fill(same),
  refused: [
    'awaited after failure by 2',
    'awaited after failure by 2',
    'awaited after failure by 2',
    same,
    'queued by 2',
    same,
    same,
    'finished',
    'finished',
    same,
    same,
    same,
    same,
    same,
    same,
    same,
    same,
    same,
    same,
  ],
  unknown: [
    same,
    'awaited after failure by 2',
    same,
    same,
    'queued after failure by 2',
    same,
    same,
    'finished',
    'finished',
    same,
    same,
    same,
    same,
    same,
    same,
    same,
    same,
    same,
    same,
  ],
  abandoned: [
    same,
    'awaited after failure by 2',
    same,
    same,
    'queued after failure by 2',
    same,
    same,
    'finished',
    'finished',
    'refused',
    same,
    same,
    same,
    same,
    same,
    same,
    same,
    same,
    same,
  ],
  cancelled: [
    'awaited after failure by 2',
    'awaited after failure by 2',
    'awaited after failure by 2',
    same,
    'queued by 2',
    same,
    same,
    'finished',
    'finished',
    same,
    same,
    same,
    same,
    same,
    same,
    same,
    same,
    same,
    same,
  ],
  paidFor: [
    same,
    'awaited after failure by 2',
    same,
    same,
    'queued after failure by 2',
    same,
    same,
    'finished',
    'finished',
    same,
    same,
    same,
    same,
    same,
    same,
    same,
    same,
    same,
    same,
  ],
};

describe.each(Object.keys(states))('an order that is %s', (name) => {
  it.each(columns.map((event, index) => [event, table[name]?.[index]]))(
    'and then %s becomes: %s',
    (event, expected) => {
      const record = states[name] ?? null;
      const before = JSON.stringify(record);
      const toEvent = events[event ?? ''];
      const after = toEvent ? transition(record, toEvent(record)) : null;
      expect(after === record ? same : describeRecord(after)).toBe(expected);
      expect(JSON.stringify(record)).toBe(before);
    },
  );
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
