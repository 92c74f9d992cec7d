import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createAuditTrail } from '../../../src/gateway/audit/audit-trail.ts';
import { readCalls, sumCalls, verifyAudit } from '../../../src/gateway/audit/read-audit.ts';
import type { CallOutcome } from '../../../src/gateway/trace.ts';
import { tDisk, whyNoMount } from '../../support/disk.ts';
import { tPaidCall } from '../../support/gateway/telemetry/paid-call.ts';

const answered = { outcome: { kind: 'answered', status: 200, fault: null }, isSent: true, durationMs: 1 } as const;

function tTrail({ folder = join(tmpdir(), `audit-${randomUUID()}`), maxWaiting = 50_000 } = {}) {
  const failures: string[] = [];
  const recovered: number[] = [];
  const events = {
    auditFailed: (reason: string) => void failures.push(reason),
    auditRecovered: (lost: number) => void recovered.push(lost),
  };
  const redact = (text: string) => text.replaceAll('DE89370400440532013000', '[IBAN]');
  const trail = createAuditTrail({ folder, keepDays: 400, services: ['bank-data'], redact, events, maxWaiting });
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, failures, recovered, ...trail };
}

const readAll = (folder: string) => readCalls(folder, '0000-00-00', '9999-99-99');
const pathOf = (folder: string) => join(folder, readdirSync(folder)[0] ?? '');

it('writes the calls of a turn before they are sent, and names one without an end as open', async () => {
  const { folder, events } = tTrail();
  const calls = [tPaidCall(), tPaidCall(), tPaidCall({ caller: 'api-key:batch' })];
  for (const call of calls) events.callBegins(call);
  expect(new Set(calls.map(({ ready }) => ready)).size).toBe(1);
  await calls[0]?.ready;
  expect(readAll(folder).map(({ caller, outcome, charged }) => [caller, outcome, charged])).toEqual([
    ['api-key:web', 'open', 'unknown'],
    ['api-key:web', 'open', 'unknown'],
    ['api-key:batch', 'open', 'unknown'],
  ]);
});

it.each<[CallOutcome | null, boolean, string[]]>([
  [answered.outcome, true, ['answered', '200', 'yes']],
  [{ kind: 'answered', status: 429, fault: null }, true, ['answered', '429', 'unknown']],
  [{ kind: 'failed', reason: 'reset' }, true, ['reset', '', 'unknown']],
  [{ kind: 'failed', reason: 'unreachable' }, false, ['unreachable', '', 'no']],
  [null, false, ['not-sent', '', 'no']],
  [null, true, ['abandoned', '', 'unknown']],
])('says of %j, sent: %s, how it ended and whether it was charged', (outcome, isSent, expected) => {
  const { folder, events, close } = tTrail();
  const call = tPaidCall();
  events.callBegins(call);
  events.callEnded(call, { outcome, isSent, durationMs: 1 });
  close();
  expect(readAll(folder).map(({ outcome, status, charged }) => [outcome, status, charged])).toEqual([expected]);
});

it('sums by caller and day', () => {
  const { folder, events, close } = tTrail();
  for (const caller of ['b', 'a', 'b']) {
    const call = tPaidCall({ caller });
    events.callBegins(call);
    events.callEnded(call, answered);
  }
  events.callBegins(tPaidCall({ caller: 'a' }));
  close();
  const day = new Date().toISOString().slice(0, 10);
  expect(sumCalls(readAll(folder), ['caller', 'day'])).toEqual([
    { keys: ['a', day], calls: 2, charged: 1, unknown: 1, open: 1, notSent: 0 },
    { keys: ['b', day], calls: 2, charged: 2, unknown: 0, open: 0, notSent: 0 },
  ]);
});

it('writes no IBAN that a client has hidden in a name, and no call of a service that is free', () => {
  const { folder, events, close } = tTrail();
  events.callBegins(tPaidCall({ requestId: 'DE89370400440532013000', operation: 'DE89370400440532013000' }));
  events.callBegins({ ...tPaidCall(), service: 'essays' });
  close();
  expect(readAll(folder)).toMatchObject([{ request: '[IBAN]', operation: '[IBAN]' }]);
  expect(readFileSync(pathOf(folder), 'utf8')).not.toContain('DE89');
});

it.each([
  ['changed', (lines: string[]) => lines.with(1, lines[1]?.replace('api-key:web', 'api-key:bat') ?? ''), 'changed'],
  ['removed', (lines: string[]) => lines.toSpliced(1, 1), 'removed or moved'],
  ['swapped', ([a = '', b = '', ...others]: string[]) => [b, a, ...others], 'removed or moved'],
])('finds a line that was %s', (_, damage, problem) => {
  const { folder, events, close } = tTrail();
  for (let number = 0; number < 4; number += 1) events.callBegins(tPaidCall());
  close();
  expect(verifyAudit(folder)).toEqual({ lines: 5, problems: [], unclosed: [] });
  const path = pathOf(folder);
  writeFileSync(path, `${damage(readFileSync(path, 'utf8').trimEnd().split('\n')).join('\n')}\n`);
  expect(verifyAudit(folder).problems[0]).toContain(problem);
});

it('keeps lines in memory while they cannot be written, and says how many did not fit', async () => {
  const folder = join(tmpdir(), `audit-${randomUUID()}`);
  writeFileSync(folder, 'a file in place of the folder');
  const { failures, recovered, events, close } = tTrail({ folder, maxWaiting: 2 });
  const calls = [tPaidCall(), tPaidCall(), tPaidCall()];
  for (const call of calls) events.callBegins(call);
  await calls[0]?.ready;
  expect([failures.length, calls[2]?.ready]).toEqual([1, null]);
  rmSync(folder);
  mkdirSync(folder);
  close();
  expect(recovered).toEqual([1]);
  expect(readAll(folder)).toHaveLength(2);
  expect(verifyAudit(folder)).toMatchObject({ lines: 4, problems: [], unclosed: [] });
});

it.skipIf(whyNoMount)(`writes each line once after the disk was full${whyNoMount}`, async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const disk = tDisk(64);
  const { folder, failures, events, unwrittenLines, close } = tTrail({ folder: join(disk, 'audit') });
  const calls = Array.from({ length: 2_500 }, () => tPaidCall());
  for (const call of calls) events.callBegins(call);
  await calls[0]?.ready;
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
  expect(verifyAudit(folder)).toEqual({ lines: 2_501, problems: [], unclosed: [] });
});
