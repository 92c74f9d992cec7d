import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { noPrices, parseMoney } from '../../../src/base/money.ts';
import { createAuditTrail } from '../../../src/gateway/audit/audit-trail.ts';
import { readCalls, sumCalls } from '../../../src/gateway/audit/read-audit.ts';
import type { CallInfo } from '../../../src/gateway/telemetry/events.ts';
import type { CallOutcome } from '../../../src/gateway/trace.ts';
import { tDisk, tFolder, whyNoMount } from '../../support/gateway/stores/folder.ts';
import { tPaidCall } from '../../support/gateway/telemetry/events.ts';
import { collectGarbage } from '../../support/measure.ts';

const answered = { outcome: { kind: 'answered', status: 200, fault: null }, isSent: true, durationMs: 1 } as const;

function tTrail({ folder = join(tmpdir(), `audit-${randomUUID()}`), maxWaiting = 50_000, prices = noPrices } = {}) {
  const failures: string[] = [];
  const recovered: number[] = [];
  const events = {
    auditFailed: (reason: string) => void failures.push(reason),
    auditRecovered: (lost: number) => void recovered.push(lost),
  };
  const redact = (text: string) => text.replaceAll('DE89370400440532013000', '[IBAN]');
  const trail = createAuditTrail({
    folder,
    keepDays: 400,
    services: ['bank-data'],
    prices,
    redact,
    events,
    maxWaiting,
  });
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, failures, recovered, ...trail };
}

const readAll = (folder: string) => [...readCalls(folder, '0000-00-00', '9999-99-99')];
/** What is missing of the trail. */
function findMissing(folder: string): string[] {
  const findings: string[] = [];
  for (const _ of readCalls(folder, '0000-00-00', '9999-99-99', (finding) => findings.push(finding)));
  return findings.map((finding) => finding.replace(/^Process \w+:? /, ''));
}
const pathOf = (folder: string) => join(folder, readdirSync(folder)[0] ?? '');

it('writes an order before it is sent, and names one without an end as open', () => {
  const { folder, events } = tTrail();
  const orders = [tPaidCall({ orderId: 'a' }), tPaidCall({ orderId: 'b' })];
  for (const order of orders) events.orderCallBegins(order);
  expect(readAll(folder).map(({ order, outcome, charged }) => [order, outcome, charged])).toEqual([
    ['a', 'open', 'unknown'],
    ['b', 'open', 'unknown'],
  ]);
  events.callEnded(orders[1] as CallInfo, answered);
  expect(findMissing(folder)[0]).toMatch(/^has no last line/);
});

it('writes the look-ups that have ended in one turn with one write, each as one line', async () => {
  const { folder, events } = tTrail();
  for (let number = 0; number < 3; number += 1) events.callEnded(tPaidCall(), answered);
  expect(existsSync(folder)).toBe(false);
  await new Promise((resolve) => setImmediate(resolve));
  expect(readFileSync(pathOf(folder), 'utf8').match(/\n/g)).toHaveLength(3);
});

it.each<[CallOutcome | null, boolean, string[]]>([
  [answered.outcome, true, ['answered', '200', 'yes']],
  [{ kind: 'answered', status: 429, fault: null }, true, ['answered', '429', 'unknown']],
  // Neither the allowance nor a budget counts it.
  [{ kind: 'answered', status: 200, fault: 'allowance' }, true, ['answered', '200', 'unknown']],
  [{ kind: 'failed', reason: 'reset' }, true, ['reset', '', 'unknown']],
  [{ kind: 'failed', reason: 'unreachable' }, false, ['unreachable', '', 'no']],
  [null, false, ['not-sent', '', 'no']],
  [null, true, ['abandoned', '', 'unknown']],
])('says of %j, sent: %s, how it ended and whether it was charged', (outcome, isSent, expected) => {
  const { folder, events, close } = tTrail();
  const order = tPaidCall();
  events.orderCallBegins(order);
  for (const call of [order, tPaidCall()]) events.callEnded(call, { outcome, isSent, durationMs: 1 });
  close();
  const found = readAll(folder).map(({ outcome, status, charged }) => [outcome, status, charged]);
  expect(found).toEqual([expected, expected]);
});

const unpriced = { currency: '', amount: 0n, unknownAmount: 0n };

it('sums by caller and day', () => {
  const { folder, events, close } = tTrail();
  for (const caller of ['b', 'a', 'b']) {
    events.callEnded(tPaidCall({ caller }), answered);
  }
  events.orderCallBegins(tPaidCall({ caller: 'a' }));
  close();
  const day = new Date().toISOString().slice(0, 10);
  expect(sumCalls(readAll(folder), ['caller', 'day'])).toEqual([
    { keys: ['a', day], ...unpriced, calls: 2, charged: 1, unknown: 1, open: 1, notSent: 0 },
    { keys: ['b', day], ...unpriced, calls: 2, charged: 2, unknown: 0, open: 0, notSent: 0 },
  ]);
});

it('keeps the price of each call, and sums each currency apart', async () => {
  const folder = tFolder();
  for (const price of ['0.1 EUR', '0.2 EUR', '0.3 USD']) {
    const trail = tTrail({ folder, prices: { ...noPrices, 'bank-data': parseMoney(price) } });
    trail.events.callEnded(tPaidCall(), answered);
    trail.events.callEnded(tPaidCall(), { outcome: { kind: 'failed', reason: 'reset' }, isSent: true, durationMs: 1 });
    trail.events.callEnded(tPaidCall(), { outcome: null, isSent: false, durationMs: 1 });
    trail.close();
  }
  expect(sumCalls(readAll(folder), ['caller'])).toEqual([
    {
      ...{ keys: ['api-key:web'], calls: 4, charged: 2, unknown: 2, open: 0, notSent: 2 },
      ...{ currency: 'EUR', amount: 600_000n, unknownAmount: 300_000n },
    },
    {
      ...{ keys: ['api-key:web'], calls: 2, charged: 1, unknown: 1, open: 0, notSent: 1 },
      ...{ currency: 'USD', amount: 600_000n, unknownAmount: 300_000n },
    },
  ]);
});

it('writes no IBAN that a client has hidden in a name, and no call of a service that is free', () => {
  const { folder, events, close } = tTrail();
  events.callEnded(tPaidCall({ requestId: 'DE89370400440532013000', operation: 'DE89370400440532013000' }), answered);
  events.orderCallBegins({ ...tPaidCall(), service: 'essays' });
  events.callEnded({ ...tPaidCall(), service: 'essays' }, answered);
  close();
  expect(readAll(folder)).toMatchObject([{ request: '[IBAN]', operation: '[IBAN]' }]);
  expect(readFileSync(pathOf(folder), 'utf8')).not.toContain('DE89');
});

it('shows by its numbers that lines were removed', () => {
  const { folder, events, close } = tTrail();
  for (let number = 0; number < 6; number += 1) events.callEnded(tPaidCall(), answered);
  close();
  expect(findMissing(folder)).toEqual([]);
  const path = pathOf(folder);
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  writeFileSync(path, `${lines.toSpliced(2, 2).join('\n')}\n`);
  expect(findMissing(folder)).toEqual(['2 lines are missing between its first and its last one.']);
});

it('is whole after its clock was set back over midnight, and knows the ends of its orders', () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.parse('2026-11-28T00:00:00Z') });
  const { folder, events, close } = tTrail();
  const [order, other] = [tPaidCall({ orderId: 'a' }), tPaidCall({ orderId: 'b' })];
  events.orderCallBegins(order);
  vi.setSystemTime('2026-11-27T23:59:59Z');
  events.callEnded(order, answered);
  events.orderCallBegins(other);
  vi.setSystemTime('2026-11-28T00:00:01Z');
  events.callEnded(other, answered);
  close();
  const days = [...readCalls(folder, '0000-00-00', '9999-99-99')].map(({ order, day, outcome }) => [
    order,
    day,
    outcome,
  ]);
  expect(days).toEqual([
    ['a', '2026-11-28', 'answered'],
    ['b', '2026-11-27', 'answered'],
  ]);
  for (const day of ['2026-11-27', '2026-11-28']) {
    const findings: string[] = [];
    const calls = [...readCalls(folder, day, day, (finding) => findings.push(finding))];
    expect([calls.map(({ outcome }) => outcome), findings]).toEqual([['answered'], []]);
  }
});

it('is not deleted by a start with a clock three years ahead, and is when it is too old', () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.parse('2026-11-27T12:00:00Z') });
  const folder = join(tmpdir(), `audit-${randomUUID()}`);
  mkdirSync(folder);
  const old = join(folder, '2025-10-20.1.jsonl');
  for (const path of [old, join(folder, '2026-11-26.2.jsonl')]) {
    writeFileSync(path, '');
    utimesSync(path, new Date('2026-11-26'), new Date('2026-11-26'));
  }
  const write = () => {
    const { events, close } = tTrail({ folder });
    events.callEnded(tPaidCall(), answered);
    close();
  };
  vi.setSystemTime('2029-11-27');
  write();
  expect(readdirSync(folder)).toHaveLength(3);
  vi.setSystemTime('2026-11-27T13:00:00Z');
  // Its name is 403 days old, but it was written yesterday.
  write();
  expect(existsSync(old)).toBe(true);
  utimesSync(old, new Date('2025-10-20'), new Date('2025-10-20'));
  write();
  expect(existsSync(old)).toBe(false);
});

it('sums 200,000 calls, of which only a piece is in memory', () => {
  const { folder, events, close } = tTrail({ maxWaiting: 300_000 });
  for (let number = 0; number < 200_000; number += 1) events.callEnded(tPaidCall(), answered);
  close();
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  let most = 0;
  let calls = 0;
  const counted = (function* () {
    for (const call of readCalls(folder, '0000-00-00', '9999-99-99')) {
      calls += 1;
      if (calls % 50_000 === 0) {
        collectGarbage();
        most = Math.max(most, process.memoryUsage().heapUsed);
      }
      yield call;
    }
  })();
  expect(sumCalls(counted, ['caller'])).toMatchObject([{ calls: 200_000, charged: 200_000 }]);
  expect(most - before).toBeLessThan(5_000_000);
});

it('keeps lines in memory while they cannot be written, and says how many did not fit', () => {
  const folder = join(tmpdir(), `audit-${randomUUID()}`);
  writeFileSync(folder, 'a file in place of the folder');
  const { failures, recovered, events, close } = tTrail({ folder, maxWaiting: 2 });
  for (let number = 0; number < 3; number += 1) events.orderCallBegins(tPaidCall());
  expect(failures).toHaveLength(1);
  rmSync(folder);
  mkdirSync(folder);
  close();
  expect(recovered).toEqual([1]);
  expect(readAll(folder)).toHaveLength(2);
  expect(findMissing(folder)).toEqual(['1 lines were lost while the trail could not be written.']);
});

it.skipIf(whyNoMount)(`writes each line once after the disk was full${whyNoMount}`, async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const disk = tDisk(64);
  const { folder, failures, events, unwrittenLines, close } = tTrail({ folder: join(disk, 'audit') });
  for (let number = 0; number < 2_500; number += 1) events.callEnded(tPaidCall(), answered);
  await new Promise((resolve) => setImmediate(resolve));
  expect(failures).toEqual(['ENOSPC']);
  // A part of a line would have stayed.
  expect(readFileSync(pathOf(folder), 'utf8')).toBe('');
  vi.advanceTimersByTime(10_000);
  expect(unwrittenLines()).toBe(2_500);
  rmSync(join(disk, 'other'));
  vi.advanceTimersByTime(1_000);
  expect(unwrittenLines()).toBe(0);
  expect(readAll(folder)).toHaveLength(2_500);
  close();
  expect(findMissing(folder)).toEqual([]);
});
