import { PassThrough } from 'node:stream';
import { prettyFactory } from 'pino-pretty';
import { describe, expect, it, vi } from 'vitest';
import { createLog, terminalFormat } from '../../src/base/log.ts';
import { createRedact } from '../../src/base/redact.ts';
import { createLogEvents } from '../../src/gateway/telemetry/log-events.ts';
import { readAll } from '../support/command.ts';
import { tPaidCall } from '../support/gateway/telemetry/events.ts';

function tLog() {
  const destination = new PassThrough();
  const log = createLog({ level: 'trace', redact: createRedact(['seeded-secret']), destination });
  const written = () => readAll(destination);
  const lines = () => JSON.parse(`[${written().trim().replaceAll('\n', ',')}]`);
  return { log, events: createLogEvents(log), written, lines };
}

describe('the log', () => {
  it('writes one JSON object per line', () => {
    const { log, lines } = tLog();
    log.info({ a: 1 }, 'first');
    log.warn('second');
    expect(lines()).toMatchObject([
      { level: 30, a: 1, msg: 'first' },
      { level: 40, msg: 'second' },
    ]);
  });

  it('names the caller in the message on a terminal', () => {
    const { log, written } = tLog();
    const format = prettyFactory({ ...terminalFormat, colorize: false });
    log.info({ caller: 'shop', status: 200 }, 'request');
    expect(format(written())).toMatch(/^\[[\d:.]{12}\] INFO: request by shop \{"status":200\}\n$/);
    log.warn({ status: 404 }, 'request');
    expect(format(written())).toMatch(/WARN: request \{"status":404\}\n$/);
  });

  it('hides secrets and IBANs in messages, fields, field names and stack traces', () => {
    const { log, events, written } = tLog();
    const iban = 'DE89370400440532013000';
    log.info({ [iban]: { deep: ['seeded-secret', `at ${iban}`] } }, `seeded-secret and ${iban}`);
    events.unexpectedError(new Error(`line one\n${iban} seeded-secret`, { cause: new Error(iban) }), {
      requestId: 'r1',
    });
    events.unexpectedError(iban, { requestId: 'r2' });
    const text = written();
    expect(text).not.toContain(iban);
    expect(text).not.toContain('seeded-secret');
    for (const line of text.trim().split('\n')) expect(() => JSON.parse(line)).not.toThrow();
    expect(text.match(/\[IBAN\]/g)?.length).toBeGreaterThanOrEqual(6);
  });

  it('contains repeated upstream failures once a minute', () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { events, written } = tLog();
    const outcome = { kind: 'failed', reason: 'reset' } as const;
    const fail = () => events.callEnded(tPaidCall({ path: '/essay' }), { outcome, isSent: true, durationMs: 1 });
    for (const passedMs of [0, 60_000]) {
      vi.setSystemTime(Date.now() + passedMs);
      for (let time = 0; time < 2; time++) fail();
      expect(written().match(/upstream call failed/g)).toHaveLength(1);
    }
  });
});
