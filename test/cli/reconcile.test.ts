import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { createAuditTrail } from '../../src/gateway/audit/audit-trail.ts';
import { runCommand } from '../support/command.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { tPaidCall } from '../support/gateway/telemetry/events.ts';

/* `audit reconcile` compares a provider's usage export with the trail. */

const answered = { outcome: { kind: 'answered', status: 200, fault: null }, isSent: true, durationMs: 1 } as const;
const reset = { outcome: { kind: 'failed', reason: 'reset' }, isSent: true, durationMs: 1 } as const;
const notSent = { outcome: null, isSent: false, durationMs: 1 };

/** A trail of three days: 3 look-ups; 2 and an unknown one, beside an essay; 1. */
function tTrail() {
  const dataDir = tFolder();
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.parse('2026-11-26T12:00:00Z') });
  const ignore = () => {};
  const trail = createAuditTrail({
    folder: join(dataDir, 'audit'),
    keepDays: 400,
    services: ['bank-data', 'essays'],
    redact: (text) => text,
    events: { auditFailed: ignore, auditRecovered: ignore },
  });
  const end = trail.events.callEnded;
  for (const ended of [answered, answered, answered]) end(tPaidCall(), ended);
  vi.setSystemTime('2026-11-27T12:00:00Z');
  for (const ended of [answered, answered, notSent]) end(tPaidCall(), ended);
  end(tPaidCall({ requestId: 'r2' }), reset);
  trail.events.orderCallBegins({ ...tPaidCall({ orderId: 'o1' }), service: 'essays', path: '/generate' });
  vi.setSystemTime('2026-11-28T12:00:00Z');
  end(tPaidCall(), answered);
  trail.close();
  vi.useRealTimers();
  return (csv: string, ...options: string[]) => {
    const file = join(dataDir, 'usage.csv');
    writeFileSync(file, csv);
    return runCommand(['audit', 'reconcile', file, ...options], { DATA_DIR: dataDir });
  };
}

it('agrees where the unknown calls explain the difference, and names them', async () => {
  const reconcile = tTrail();
  const usage = '\ufeffDay;Calls\r\n2026-11-26;2\r\n2026-11-26;1\r\n2026-11-27;3\r\n';
  expect(await reconcile(usage, '--service', 'bank-data')).toEqual({
    code: 0,
    stdout:
      'day,service,reported,charged,unknown,result\n' +
      '2026-11-26,bank-data,3,3,0,equal\n' +
      '2026-11-27,bank-data,3,2,1,equal\n',
    stderr:
      'Unknown: 2026-11-27T12:00:00.000Z bank-data iban_validate, api-key:web, request r2, reset\n' +
      'Unknown: 2026-11-27T12:00:00.000Z essays generate, api-key:web, order o1, open\n',
  });
});

it('says where calls are missing in the trail, or the trail has more, by service', async () => {
  const reconcile = tTrail();
  const usage = 'service,calls,day\nbank-data,4,2026-11-26\nessays,0,2026-11-27\nbank-data,1,2026-11-28\n';
  const { code, stdout } = await reconcile(usage);
  expect([code, stdout]).toEqual([
    1,
    'day,service,reported,charged,unknown,result\n' +
      '2026-11-26,bank-data,4,3,0,missing\n' +
      '2026-11-27,bank-data,0,2,1,more\n' +
      '2026-11-27,essays,0,0,1,equal\n' +
      '2026-11-28,bank-data,1,1,0,equal\n',
  ]);
  expect((await reconcile(usage, '--from', '2026-11-28')).code).toBe(0);
});

it.each<[string, string, number, ...string[]]>([
  ['a decimal comma', 'day;cost;calls\n2026-11-26;12,50;3\n', 0],
  ['a decimal comma, and more calls', 'day;cost;calls\n2026-11-26;0,03;4\n', 1],
  ['a name with a comma', 'account\tday\tcalls\nACME, Inc.\t2026-11-26\t3\n', 0],
  ['a thousand with a comma', 'day\tcalls\n2026-11-26\t1,203\n', 2],
  ['no row of a day with calls', 'day,calls\n2026-11-26,3\n', 1, '--from', '2026-11-26', '--to', '2026-11-27'],
])('reads %s as it is', async (_, usage, code, ...options) => {
  expect((await tTrail()(usage, '--service', 'bank-data', ...options)).code).toBe(code);
});

const titles = 'day,calls,service\n';
const right = '2026-11-26,3,bank-data\n';

it.each([
  [
    'date,calls\n2026-11-26,3\n',
    'line 2: must have the columns day, such as 2026-11-27, calls, such as 1200, and service',
  ],
  [`${titles}${right}27.11.2026,3,essays\n`, 'line 3: must have the columns day, such as 2026-11-27'],
  [`${titles}${right}\n2026-11-27,"1,200",essays\n`, 'but has {"day":"2026-11-27","calls":"1,200","service":"essays"}'],
  [`${titles}2026-11-27,12,ibans\n`, 'line 2: must have the columns'],
  [`${titles}${right}2026-11-27,"12,essays\n`, 'line 3: a quotation mark is opened and never closed'],
])('refuses a file, with the line and what would be right: %j', async (usage, problem) => {
  const { code, stdout, stderr } = await tTrail()(usage);
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(problem)]);
});

it('refuses a file without a row of the days, and an action without its file', async () => {
  const reconcile = tTrail();
  expect(await reconcile(titles)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('has no row of these days'),
  });
  for (const args of [['reconcile'], ['sum', 'usage.csv']])
    expect(await runCommand(['audit', ...args], { DATA_DIR: tFolder() })).toMatchObject({ code: 2, stdout: '' });
});
