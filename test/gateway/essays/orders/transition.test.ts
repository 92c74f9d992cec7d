import { describe, expect, it } from 'vitest';
import {
  type EndedState,
  type OrderEvent,
  type OrderRecord,
  readRecord,
  toOrderId,
  toResult,
  transition,
  writeRecord,
} from '../../../../src/gateway/essays/orders/order.ts';
import type { EssayFailure } from '../../../../src/gateway/essays/port.ts';
import { failed, order, tEssay, timedOut, unknownOutcome } from '../../../support/gateway/essays/generator.ts';
import { ann } from '../../../support/gateway/essays/orders.ts';

/* Every state of an order, and what each event makes of it. */

const keyed = { ...order, idempotencyKey: 'form-1' };
const refused = failed as EssayFailure;
const unknown = timedOut as EssayFailure;
const essay = tEssay();

function tRecord(state: OrderRecord['state'], changes: Partial<OrderRecord> = {}): OrderRecord {
  const id = toOrderId('form-1', ann.id);
  const rest = { createdAt: new Date(0), order: keyed, caller: ann, isAwaited: false, listed: 1, run: 'run-1' };
  return { id, ...rest, state, ...changes };
}

const queued = tRecord({ kind: 'queued', earlier: null });
const sent = tRecord({ kind: 'sent', owner: 'one' });
const states: Record<string, OrderRecord | null> = {
  none: null,
  queued,
  'queued after failure': tRecord({ kind: 'queued', earlier: { kind: 'failed', failure: unknown } }),
  sent,
  'sent for its client': { ...sent, isAwaited: true },
  finished: tRecord({ kind: 'finished', essay }),
  refused: tRecord({ kind: 'failed', failure: refused }),
  unknown: tRecord({ kind: 'failed', failure: unknown }),
  abandoned: tRecord({ kind: 'failed', failure: null }),
  cancelled: tRecord({ kind: 'cancelled', mayHaveBeenPaid: false }),
  paidFor: tRecord({ kind: 'cancelled', mayHaveBeenPaid: true }),
};

const next = (changes: Partial<OrderRecord> = {}) =>
  tRecord({ kind: 'queued', earlier: null }, { run: 'run-2', ...changes });
const different = { ...keyed, wordCount: 5 };
const consenting = { ...keyed, orderAgain: true };
const own = (record: OrderRecord | null) => record ?? sent;
const toSend = (before: OrderRecord | null, changes: Partial<OrderRecord> = {}): OrderEvent => ({
  kind: 'sending',
  before,
  next: next({ state: { kind: 'sent', owner: 'two' }, ...changes }),
});
const awaited = { isAwaited: true };
const events: Record<string, (record: OrderRecord | null) => OrderEvent> = {
  started: () => ({ kind: 'started', next: next() }),
  'started again': () => ({ kind: 'started', next: next({ order: consenting }) }),
  'started differently': () => ({ kind: 'started', next: next({ order: different }) }),
  sending: (record) => toSend(record),
  'sending for its client': (record) => toSend(record, awaited),
  'sending again': (record) => toSend(record, { ...awaited, order: consenting }),
  'sending differently': (record) => toSend(record, { ...awaited, order: different }),
  'sending by one that knows another run': (record) =>
    toSend({ ...own(record), run: 'run-0' }, { ...awaited, order: consenting }),
  'sending by one that knows none': () => toSend(null, awaited),
  unsent: () => ({ kind: 'unsent', run: 'run-1', before: queued, failure: null }),
  'unsent and refused': () => ({ kind: 'unsent', run: 'run-1', before: queued, failure: refused }),
  'unsent elsewhere': () => ({ kind: 'unsent', run: 'run-2', before: next(), failure: refused }),
  essay: (record) => ({ kind: 'ended', own: own(record), state: { kind: 'finished', essay } }),
  'essay elsewhere': () => ({ kind: 'ended', own: next(), state: { kind: 'finished', essay } }),
  failure: (record) => ({ kind: 'ended', own: own(record), state: { kind: 'failed', failure: refused } }),
  'failure elsewhere': () => ({ kind: 'ended', own: next(), state: { kind: 'failed', failure: refused } }),
  'shown text': () => ({ kind: 'text-shown', run: 'run-1', textSoFar: 'Pens' }),
  'shown text elsewhere': () => ({ kind: 'text-shown', run: 'run-2', textSoFar: 'Pens' }),
  'owner died': () => ({ kind: 'owner-died', run: 'run-1' }),
  'other owner died': () => ({ kind: 'owner-died', run: 'run-2' }),
  cancelled: () => ({ kind: 'cancelled', cancelsSent: false }),
  'cancelled though sent': () => ({ kind: 'cancelled', cancelsSent: true }),
};

/** A record in one word; with its run if that is another one than before. */
function describeRecord(record: OrderRecord | null): string {
  if (record === null) return 'none';
  if (record.state.kind === 'sent') {
    return `sent by ${record.state.owner}${record.state.textSoFar === undefined ? '' : ', with text'}`;
  }
  const text = JSON.stringify(record.state);
  const [kind] = Object.entries(states).find(([, state]) => JSON.stringify(state?.state) === text) ?? [];
  return record.run === 'run-1' ? String(kind) : `${kind}, run 2`;
}

const sendsAgain = { 'sending again': 'sent by two' };
const sendsAll = { ...sendsAgain, 'sending for its client': 'sent by two', 'sending differently': 'sent by two' };
const sendsQueued = { ...sendsAll, sending: 'sent by two' };
const essayWins = { essay: 'finished', 'essay elsewhere': 'finished' };
const ends = { ...essayWins, failure: 'refused' };
const shows = { 'shown text': 'sent by one, with text' };

/** What events make of an order, by its state. All others change nothing. */
const table: Record<string, Record<string, string>> = {
  none: {
    started: 'queued, run 2',
    'started again': 'queued, run 2',
    'started differently': 'queued, run 2',
    ...sendsQueued,
    'sending by one that knows none': 'sent by two',
    essay: 'finished',
    'essay elsewhere': 'finished, run 2',
    failure: 'refused',
    'failure elsewhere': 'refused, run 2',
  },
  queued: {
    ...sendsQueued,
    ...ends,
    'unsent and refused': 'refused',
    cancelled: 'cancelled',
    'cancelled though sent': 'cancelled',
  },
  'queued after failure': {
    ...sendsQueued,
    ...ends,
    unsent: 'queued',
    'unsent and refused': 'refused',
    cancelled: 'paidFor',
    'cancelled though sent': 'paidFor',
  },
  sent: {
    ...ends,
    ...shows,
    unsent: 'queued',
    'unsent and refused': 'refused',
    'owner died': 'abandoned',
    'cancelled though sent': 'paidFor',
  },
  'sent for its client': {
    ...ends,
    ...shows,
    unsent: 'queued',
    'unsent and refused': 'refused',
    'owner died': 'abandoned',
  },
  finished: {},
  refused: { 'started again': 'queued, run 2', ...sendsAll, ...essayWins },
  unknown: { 'started again': 'queued after failure, run 2', ...sendsAgain, ...essayWins },
  abandoned: { 'started again': 'queued, after an unknown end, run 2', ...sendsAgain, ...ends },
  cancelled: { 'started again': 'queued, run 2', ...sendsAll, 'essay elsewhere': 'finished' },
  paidFor: { 'started again': 'queued, after an unknown end, run 2', ...sendsAgain, 'essay elsewhere': 'finished' },
};

describe.each(Object.keys(states))('an order that is %s', (name) => {
  it.each(Object.entries(events))('changes, or does not, when it is: %s', (event, toEvent) => {
    const record = states[name] ?? null;
    const before = JSON.stringify(record);
    const after = transition(record, toEvent(record));
    const described = describeRecord(after).replace('undefined,', 'queued, after an unknown end,');
    expect(after === record ? undefined : described).toBe(table[name]?.[event]);
    expect(JSON.stringify(record)).toBe(before);
  });
});

it('keeps what is known of an earlier attempt if the next one is not sent', () => {
  const again = transition(states.unknown ?? null, { kind: 'started', next: next({ order: consenting }) });
  const unsent = transition(again, { kind: 'unsent', run: 'other', before: again, failure: refused });
  expect(unsent?.state).toEqual({ kind: 'failed', failure: unknown });
});

it.each<[EndedState, unknown]>([
  [{ kind: 'finished', essay }, essay],
  [{ kind: 'failed', failure: refused }, refused],
  [{ kind: 'failed', failure: unknown }, unknown],
  [{ kind: 'failed', failure: null }, unknownOutcome],
  [{ kind: 'cancelled', mayHaveBeenPaid: true }, unknownOutcome],
  [{ kind: 'cancelled', mayHaveBeenPaid: false }, null],
])('has a result for a client that waits: %j', (state, result) => {
  expect(toResult(state)).toEqual(result);
});

describe('a record', () => {
  it.each(Object.values(states).filter((record) => record !== null))(
    'is read as it was written: $state.kind',
    (record) => {
      expect(readRecord(writeRecord(record))).toEqual(record);
    },
  );

  /** As 0.2.1 wrote it. */
  const of021 = (state: object, changes: object = {}) => {
    const run = { process: 'p', run: 'run-1', attempts: 1, isCancelRequested: false, isRepeated: false, earlier: null };
    return JSON.stringify({ ...queued, ...run, ...changes, version: 2, state });
  };
  const earlier = { order: keyed, isAwaited: true, attempts: 1, state: { kind: 'failed', failure: unknown } };
  it.each<[string, string, OrderRecord['state'] | null]>([
    ['finished', of021({ kind: 'finished', essay }), { kind: 'finished', essay }],
    ['abandoned', of021({ kind: 'failed', failure: null }), { kind: 'failed', failure: null }],
    ['sent', of021({ kind: 'sent' }), { kind: 'sent', owner: 'p' }],
    ['started', of021({ kind: 'queued' }, { attempts: 0 }), { kind: 'queued', earlier: null }],
    [
      'started again',
      of021({ kind: 'queued' }, { earlier }),
      { kind: 'queued', earlier: { kind: 'failed', failure: unknown } },
    ],
    ['queued for a client', of021({ kind: 'queued' }, { attempts: 0, isAwaited: true }), null],
    [
      'queued again for one',
      of021({ kind: 'queued' }, { isAwaited: true, earlier }),
      { kind: 'failed', failure: unknown },
    ],
    ['refused unsent', of021({ kind: 'failed', failure: refused }, { attempts: 0, isAwaited: true }), null],
  ])('of 0.2.1 is read: %s', (_, text, state) => {
    expect(readRecord(text)?.state ?? null).toEqual(state);
  });
});
