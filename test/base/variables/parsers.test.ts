import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { AbortableSignal } from '../../../src/base/async/signal.ts';
import { storeFailures, storeRisks } from '../../../src/base/errors.ts';
import { createLog } from '../../../src/base/log.ts';
import { isOwnText } from '../../../src/base/variables/parsers.ts';
import { createRequestContext } from '../../../src/gateway/request-context.ts';
import { configuredFiles } from '../../../src/gateway/telemetry/events.ts';
import { createLogEvents, createRequestLog } from '../../../src/gateway/telemetry/log-events.ts';
import { readAll } from '../../support/command.ts';
import { succeeded, tPaidCall } from '../../support/gateway/telemetry/events.ts';
import { seenIbanValidation } from '../../support/self-hosted.ts';

/** Names and texts of a JSON value. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, child]) => [name, ...textsIn(child)]);
}

/** Words that a secret could be. */
const longWords = (texts: readonly string[]) =>
  [...new Set(texts.flatMap((text) => text.split(/\s+/)).flatMap((word) => [word, word.replace(/\W+$/, '')]))].filter(
    ({ length }) => length >= 8,
  );

/** The words of all lines that the gateway logs. */
function logWords(): string[] {
  const destination = new PassThrough();
  const log = createLog({ level: 'trace', redact: (line) => line, destination });
  const { callEnded, unexpectedError, storeDown, storeRisksChanged, fileReloaded, fileInvalid, ...others } =
    createLogEvents(log);
  const ended = { isSent: true, durationMs: 1 };
  callEnded(tPaidCall(), { ...ended, outcome: { kind: 'answered', status: 500, fault: null } });
  callEnded(tPaidCall(), { ...ended, outcome: { kind: 'failed', reason: 'reset' } });
  unexpectedError('text', { requestId: 'r' });
  for (const file of configuredFiles) {
    fileReloaded(file, 1);
    fileInvalid(file, 'the file is empty');
  }
  for (const failure of storeFailures) storeDown(failure, 'OOM');
  storeRisksChanged(storeRisks);
  storeRisksChanged([]);
  for (const fire of Object.values(others) as ((...args: unknown[]) => void)[]) fire('bank-data', 1);
  const usage = createRequestContext(new AbortableSignal()).usage;
  const outcomes = ['EssayAllowanceExhausted', 'EssayServiceFailed', 'InvalidEssayInput', 'InvalidIbanFields'];
  const reply = { operationType: 'mutation', operationName: 'O', documentId: 'd', isTrusted: true } as const;
  createRequestLog(log, 1).requestFinished({
    ...succeeded,
    traceId: 't',
    callerName: 'anonymous',
    clientName: 'c',
    clientVersion: 'v',
    errorCodes: ['FORBIDDEN'],
    reply: { ...reply, outcomes, errorCodes: [], refusal: null, usage, isKept: true },
  });
  const lines = readAll(destination).trim().split('\n');
  expect(lines.length).toBeGreaterThan(25);
  const values = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  // The stack names files of the checkout.
  return longWords(values.flatMap(({ err, ...fields }) => textsIn(fields)));
}

describe('a text of the gateway itself', () => {
  it('is each word of its log', () => {
    expect(logWords().filter((word) => !isOwnText(word))).toEqual([]);
  });

  it('is each name in an upstream response', () => {
    const names = JSON.stringify(seenIbanValidation).match(/\w+(?=":)/g) ?? [];
    expect(longWords(names).filter((word) => !isOwnText(word))).toEqual([]);
  });

  it('is each failure code', () => {
    const operations = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
    const [, section = ''] = operations.split('\n## Failure codes\n');
    const codes = section.match(/(?<=^\|.*`)[A-Z_]{8,}(?=`)/gm) ?? [];
    expect(codes.length).toBeGreaterThan(15);
    expect(codes.filter((code) => !/^(MAX|CORS|ALLOWED)_/.test(code) && !isOwnText(code))).toEqual([]);
  });

  it('is a part of such a word, but not a longer text', () => {
    expect(['bank-data', 'bank_data', 'upstream', 'forbidden', 'RequestId'].every(isOwnText)).toBe(true);
    expect(['bank-data-1', 'seeded-key'].some(isOwnText)).toBe(false);
  });
});
