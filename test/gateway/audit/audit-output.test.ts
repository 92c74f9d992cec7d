import { execFileSync } from 'node:child_process';
import { closeSync, constants, existsSync, mkdirSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createAuditTrail } from '../../../src/gateway/audit/audit-trail.ts';
import { readCalls } from '../../../src/gateway/audit/read-audit.ts';
import { runCommand } from '../../support/command.ts';
import { fencedBlocks } from '../../support/docs/blocks.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { tPaidCall } from '../../support/gateway/telemetry/events.ts';
import { scrape } from '../../support/gateway/telemetry/scrape.ts';
import { tIban } from '../../support/ibans.ts';
import {
  noUpstreams,
  orderMutation,
  orderVariables,
  tGatewayProcess,
  tProcess,
  untilReady,
} from '../../support/process.ts';
import { replyJson, tUpstream } from '../../support/scripted-upstream.ts';

/* AUDIT_DAYS=stdout: the audit trail of a process whose files are lost with it. */

const query = '{ ibanValidation(iban: "DE89370400440532013000") { valid } }';
const essay = 'Pens hold ink, and they hold it well for a long time. '.repeat(20);
const answered = { outcome: { kind: 'answered', status: 200, fault: null }, isSent: true, durationMs: 1 } as const;

async function tPaid() {
  const upstream = await tUpstream(replyJson(200, { valid: true, essay }));
  return { ...noUpstreams, BANK_DATA_URL: upstream.url, ESSAY_URL: upstream.url, AUDIT_DAYS: 'stdout' };
}

it('writes each paid call of a process to standard output, where docs/audit.md finds and sums them', async () => {
  const env = { ...(await tPaid()), DATA_DIR: tFolder() };
  const { process, ask } = await tGatewayProcess(env);
  await ask(query);
  await ask(orderMutation, orderVariables('Pens', 'form-1'));
  process.kill('SIGTERM');
  expect(await process.ended).toEqual({ code: 0, signal: null });
  const [ready = '', ...lines] = process.stdout().trimEnd().split('\n');
  expect(JSON.parse(ready)).toMatchObject({ level: 30, msg: 'Ledgerquill is ready.' });
  const [, id = ''] = /^\{"process":"(\w{8})"/.exec(lines[0] ?? '') ?? [];
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { process: id, n: 1, service: 'bank-data', caller: 'anonymous', outcome: 'answered', charged: 'yes' },
    { process: id, n: 2, service: 'essays', caller: 'anonymous' },
    { process: id, n: 3, of: 2, outcome: 'answered', charged: 'yes' },
    { process: id, n: 4, closed: true },
  ]);
  expect(existsSync(join(env.DATA_DIR, 'audit'))).toBe(false);
  expect(process.stderr()).not.toContain('"process"');

  // As a collector keeps them: beside the log.
  const folder = tFolder();
  writeFileSync(join(folder, 'gateway-1.log'), process.stdout() + process.stderr());
  const page = readFileSync(new URL('../../../docs/audit.md', import.meta.url), 'utf8');
  const block = fencedBlocks(page).find(({ text }) => text.includes('awk'))?.text ?? '';
  const [collect = '', sum = ''] = block.split(/\n(?=DATA_DIR=)/);
  execFileSync('sh', ['-euc', collect], { cwd: folder });
  expect(sum).toBe('DATA_DIR=collected ledgerquill audit sum\n');
  const summed = await runCommand(['audit', 'sum', '--by', 'service'], { DATA_DIR: join(folder, 'collected') });
  expect(summed).toEqual({
    code: 0,
    stdout:
      'service,calls,charged,unknown,open,not_sent,amount,unknown_amount,currency\nbank-data,1,1,0,0,0,,,\nessays,1,1,0,0,0,,,\n',
    stderr: '',
  });
});

it('answers, and says that lines wait, while nothing reads standard output', async () => {
  const env = { ...(await tPaid()), METRICS_PORT: '0', DATA_DIR: tFolder() };
  const { ask, metricsUrl, process } = await untilReady(
    tProcess('sh', ['-c', 'node dist/main.js | head -n 1'], { PORT: '0', ...env }),
  );
  // What the pipe takes before its reader has ended is lost with it.
  for (let number = 0; !process.stderr().includes('the audit trail cannot be written'); number += 1) {
    expect(await ask(`{ ibanValidation(iban: "${tIban(number)}") { valid } }`)).toEqual({
      ibanValidation: { valid: true },
    });
  }
  expect(process.stderr()).toContain('"reason":"EPIPE"');
  expect((await scrape(metricsUrl)).value('ledgerquill_audit_lines_waiting')).toBeGreaterThan(0);
});

/** A pipe without a reader, as that of a container whose runtime has stopped. */
function tPipe() {
  const path = join(tFolder(), 'pipe');
  execFileSync('mkfifo', [path]);
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(fd));
  const buffer = Buffer.alloc(1_000_000);
  return { fd, read: () => buffer.toString('utf8', 0, readSync(fd, buffer)) };
}

function tTrail(fd: number, maxWaiting = 50_000) {
  const failures: string[] = [];
  const recovered: number[] = [];
  const trail = createAuditTrail({
    folder: '/nowhere',
    keepDays: null,
    output: fd as 1,
    services: ['bank-data'],
    redact: (text) => text,
    events: { auditFailed: (reason) => failures.push(reason), auditRecovered: (lost) => recovered.push(lost) },
    maxWaiting,
  });
  return { ...trail, failures, recovered };
}

/** What was read, as files of the trail. */
function sumUp(text: string) {
  const folder = tFolder();
  mkdirSync(join(folder, 'audit'));
  const [, id] = /"process":"(\w+)"/.exec(text) ?? [];
  writeFileSync(join(folder, `audit/2026-11-29.${id}.jsonl`), text);
  const missing: string[] = [];
  const calls = [...readCalls(join(folder, 'audit'), '0000-00-00', '9999-99-99', (finding) => missing.push(finding))];
  return { calls: calls.length, missing };
}

it('keeps the lines that a full pipe does not take, in pieces, and writes each once when it is read again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { fd, read } = tPipe();
  const { events, failures, recovered, unwrittenLines, close } = tTrail(fd);
  const begun = performance.now();
  for (let number = 0; number < 2_000; number += 1) events.callEnded(tPaidCall(), answered);
  await new Promise((resolve) => setImmediate(resolve));
  // A pipe that is full for a moment is no failure, and nothing has waited for it.
  expect([failures, unwrittenLines(), performance.now() - begun]).toEqual([[], 0, 0]);
  vi.advanceTimersByTime(4_900);
  expect(failures).toEqual([]);
  vi.advanceTimersByTime(200);
  expect(failures).toEqual(['EAGAIN']);
  expect(unwrittenLines()).toBeGreaterThan(1_000);
  let text = read();
  for (let tries = 0; unwrittenLines() > 0 && tries < 1_000; tries += 1) {
    vi.advanceTimersByTime(1_000);
    text += read();
  }
  expect([unwrittenLines(), recovered]).toEqual([0, [0]]);
  await close();
  expect(sumUp(text + read())).toEqual({ calls: 2_000, missing: [] });
});

it('says how many lines did not fit into memory while the pipe was full', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { fd, read } = tPipe();
  const { events, failures, unwrittenLines, close } = tTrail(fd, 500);
  for (let number = 0; number < 400; number += 1) events.callEnded(tPaidCall(), answered);
  await new Promise((resolve) => setImmediate(resolve));
  for (let number = 0; number < 500; number += 1) events.callEnded(tPaidCall(), answered);
  expect(failures).toEqual(['EAGAIN']);
  let text = '';
  for (let tries = 0; unwrittenLines() > 0 && tries < 1_000; tries += 1) {
    text += read();
    vi.advanceTimersByTime(1_000);
  }
  await close();
  const { calls, missing } = sumUp(text + read());
  expect(missing).toEqual([expect.stringMatching(/: \d+ lines were lost while the trail could not be written\.$/)]);
  expect(calls + Number(/: (\d+) lines/.exec(missing[0] ?? '')?.[1])).toBe(900);
});

it('writes the last lines to a reader that is only slow', async () => {
  const { fd, read } = tPipe();
  const { events, close } = tTrail(fd);
  for (let number = 0; number < 1_000; number += 1) events.callEnded(tPaidCall(), answered);
  let text = '';
  const reading = setInterval(() => {
    try {
      text += read();
    } catch {
      // It is empty.
    }
  }, 5);
  await close();
  clearInterval(reading);
  expect(sumUp(text + read())).toEqual({ calls: 1_000, missing: [] });
});
