import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createEvents } from '../../src/telemetry/events.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { createRedact } from '../../src/telemetry/redact.ts';

function tLog() {
  const destination = new PassThrough();
  const log = createLog({ level: 'trace', redact: createRedact(['seeded-secret']), destination });
  return { log, events: createEvents(log), written: () => String(destination.read() ?? '') };
}

describe('the log', () => {
  it('writes one JSON object per line', () => {
    const { log, written } = tLog();
    log.info({ a: 1 }, 'first');
    log.warn('second');
    const lines = written()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { level: 30, a: 1, msg: 'first' },
      { level: 40, msg: 'second' },
    ]);
  });

  it('hides secrets and IBANs wherever they stand: in messages, fields, names of fields and stacks', () => {
    const { log, events, written } = tLog();
    const iban = 'DE89370400440532013000';
    log.info({ [iban]: { deep: ['seeded-secret', `at ${iban}`] } }, `seeded-secret and ${iban}`);
    events.unexpectedError(new Error(`line one\n${iban} seeded-secret`, { cause: new Error(iban) }), 'r1');
    events.unexpectedError(iban, 'r2');
    const text = written();
    expect(text).not.toContain(iban);
    expect(text).not.toContain('seeded-secret');
    for (const line of text.trim().split('\n')) expect(() => JSON.parse(line)).not.toThrow();
    expect(text.match(/\[IBAN\]/g)?.length).toBeGreaterThanOrEqual(6);
  });
});
