import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ErrorCode, GatewayError } from '../../src/base/errors.ts';
import { type Answer, createAnswers } from '../../src/check/answers/answers.ts';
import { openJournal } from '../../src/check/answers/journal.ts';
import { FingerprintMap, fingerprintOf } from '../../src/check/fingerprints.ts';
import type { IbanValidation } from '../../src/gateway/bank-data/bank-data.ts';
import { createBankDataAnswers } from '../../src/gateway/bank-data/check-answers.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { tIban } from '../support/ibans.ts';

const valid: Answer = { kind: 'answered', valid: true, bank: 'Commerzbank', bic: 'COBADEFFXXX' };
const invalid: Answer = { kind: 'answered', valid: false, bank: null, bic: null };

it('a fingerprint is the beginning of the SHA-256', () => {
  // printf DE89370400440532013000 | sha256sum
  expect(fingerprintOf('DE89370400440532013000')).toBe('faf7e1c0107370ff6f5d0320');
});

describe('a map of fingerprints', () => {
  it('has the number of each text while it grows', () => {
    const map = new FingerprintMap();
    const texts = 200_000;
    for (let number = 1; number <= texts; number += 1) map.add(fingerprintOf(String(number)), number);
    expect(map.size).toBe(texts);
    const wrong: number[] = [];
    for (let number = 1; number <= texts; number += 1) {
      if (map.get(fingerprintOf(String(number))) !== number) wrong.push(number);
    }
    expect(wrong).toEqual([]);
    expect(map.get(fingerprintOf('other'))).toBeNull();
  });

  it('keeps the first number that is added', () => {
    const map = new FingerprintMap();
    expect(map.add(fingerprintOf('1'), 2 ** 32 - 1)).toBeNull();
    expect(map.add(fingerprintOf('1'), 8)).toBe(2 ** 32 - 1);
    expect(map.get(fingerprintOf('1'))).toBe(2 ** 32 - 1);
    expect(map.size).toBe(1);
  });
});

describe('an IBAN', () => {
  it('is asked once, also while its answer is awaited', async () => {
    const asked: string[] = [];
    const ask = async (iban: string) => {
      asked.push(iban);
      return iban === tIban(1) ? valid : invalid;
    };
    const answers = createAnswers({ ask });
    await Promise.all([answers.find(tIban(1)), answers.find(tIban(1)), answers.find(tIban(2))]);
    expect([answers.find(tIban(1)), answers.find(tIban(2))]).toEqual([valid, invalid]);
    expect(asked).toEqual([tIban(1), tIban(2)]);
    expect(answers.size()).toBe(2);
  });

  it('has the answer that was kept, and is not asked', () => {
    const ask = async () => Promise.reject(new Error('asked'));
    const answers = createAnswers({ ask });
    for (let number = 0; number < 300; number += 1) {
      answers.keep(fingerprintOf(tIban(number)), { ...valid, bank: `Bank ${number % 100}` });
    }
    expect(answers.find(tIban(250))).toEqual({ ...valid, bank: 'Bank 50' });
    expect(answers.size()).toBe(300);
  });
});

describe('the journal', () => {
  const printed = (number: number) => fingerprintOf(tIban(number));
  const openWith = (path: string, isResumed: boolean, sourceId = 'service') => {
    const kept = new Map<string, Answer>();
    const keep = (fingerprint: string, answer: Answer) => void kept.set(fingerprint, answer);
    return { journal: openJournal({ path, sourceId, contentHash: 'a hash', isResumed, keep }), kept };
  };

  it('has all answers that were appended, and no IBAN', () => {
    const path = join(tFolder(), 'journal');
    const { journal } = openWith(path, false);
    journal.append(fingerprintOf(tIban(1)), valid);
    journal.append(fingerprintOf(tIban(2)), { ...invalid, nationalCheck: 'FAILED' });
    journal.close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).not.toContain(tIban(1));
    const { journal: resumed, kept } = openWith(path, true);
    expect([...kept]).toEqual([
      [printed(1), valid],
      [printed(2), { ...invalid, nationalCheck: 'FAILED' }],
    ]);
    resumed.remove();
    expect(() => statSync(path)).toThrow('ENOENT');
  });

  it('leaves out a line that was cut off, and continues behind the others', () => {
    const path = join(tFolder(), 'journal');
    const { journal } = openWith(path, false);
    journal.append(fingerprintOf(tIban(1)), valid);
    journal.close();
    appendFileSync(path, `${printed(2)} {"valid":tr`);
    const { journal: resumed, kept } = openWith(path, true);
    expect([...kept.keys()]).toEqual([printed(1)]);
    resumed.append(fingerprintOf(tIban(3)), valid);
    resumed.close();
    expect([...openWith(path, true).kept.keys()]).toEqual([printed(1), printed(3)]);
  });

  it('is continued only on demand, with the same source, and if it is whole', () => {
    const path = join(tFolder(), 'journal');
    const { journal } = openWith(path, false);
    journal.append(fingerprintOf(tIban(1)), valid);
    journal.close();
    expect(() => openWith(path, false)).toThrow('add --resume to use them, or delete it to ask again');
    expect(() => openWith(path, true, 'another service')).toThrow('has no answers of this service or gateway');
    writeFileSync(path, readFileSync(path, 'utf8').replace('"valid":true', '"valid":1'));
    expect(() => openWith(path, true)).toThrow('is damaged; delete it to ask again');
  });

  it('is deleted if it has no answers', () => {
    const path = join(tFolder(), 'journal');
    openWith(path, false).journal.close();
    expect(() => statSync(path)).toThrow('ENOENT');
    expect(() => openWith(join(tFolder(), 'missing', 'journal'), false)).toThrow('cannot be written (ENOENT)');
  });
});

describe('answers of the bank-data service', () => {
  type Look = (iban: string) => Promise<IbanValidation>;
  const answered: Look = async (iban) => ({ iban, valid: true, problems: [], ibanData: null, bankData: null });
  const failing =
    (code: ErrorCode, retryable = false): Look =>
    async () => {
      throw new GatewayError(code, 'failed', { retryable });
    };
  const create = (
    validateIban: (iban: string, context: never) => Promise<IbanValidation>,
    maxCalls: number | null = null,
  ) =>
    createBankDataAnswers({
      bankData: {
        validateIbans: (ibans, context) =>
          Promise.all(ibans.map((iban) => validateIban(iban, context as never).catch((failure) => failure))),
      },
      maxConcurrency: 2,
      maxCalls,
      pausesMs: [0, 0],
    });

  it('are asked for at most as many at a time as the client sends calls', async () => {
    let running = 0;
    let most = 0;
    const source = create(async (iban) => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      return answered(iban);
    });
    await Promise.all([1, 2, 3, 4, 5].map((number) => source.ask(tIban(number))));
    expect(most).toBe(2);
  });

  it('are asked for again after a failure that may end', async () => {
    const looks = [failing('UPSTREAM_FAILED', true), failing('UPSTREAM_ALLOWANCE_EXHAUSTED'), answered];
    const source = create((iban) => (looks.shift() ?? answered)(iban));
    expect(await source.ask(tIban(1))).toMatchObject({ kind: 'answered', valid: true });
    expect(looks).toEqual([]);
    expect(source.stopReason()).toBeNull();
  });

  it('are failures if the service rejects a request, and others are still asked for', async () => {
    const source = create((iban) => (iban === tIban(1) ? failing('UPSTREAM_FAILED') : answered)(iban));
    expect(await source.ask(tIban(1))).toEqual({ kind: 'failed', code: 'UPSTREAM_FAILED' });
    expect(await source.ask(tIban(2))).toMatchObject({ kind: 'answered' });
  });

  it('are not asked for any more once the service keeps failing', async () => {
    const source = create(failing('UPSTREAM_UNAVAILABLE', true));
    expect(await source.ask(tIban(1))).toEqual({ kind: 'failed', code: 'UPSTREAM_UNAVAILABLE' });
    expect(await source.ask(tIban(2))).toEqual({
      kind: 'not-asked',
      reason: 'the service keeps failing (UPSTREAM_UNAVAILABLE)',
    });
    expect(source.stopReason()).toContain('keeps failing');
  });

  it('are not asked for any more once the key is rejected', async () => {
    const source = create(failing('UPSTREAM_REJECTED_CREDENTIALS'));
    const reason = 'the service rejects the key of the gateway';
    expect(await source.ask(tIban(1))).toEqual({ kind: 'not-asked', reason });
    expect(await source.ask(tIban(2))).toEqual({ kind: 'not-asked', reason });
  });

  it('reject for a fault of the program', async () => {
    await expect(create(async () => Promise.reject(new Error('bug'))).ask(tIban(1))).rejects.toThrow('bug');
  });
});
