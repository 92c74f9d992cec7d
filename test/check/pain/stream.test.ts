import { describe, expect, it, vi } from 'vitest';
import { type Answer, AnswerSource, createAnswers } from '../../../src/check/answers/answers.ts';
import { calcCheckDigits } from '../../../src/iban/mod97.ts';
import { findAllIn, rightMessage, tCheck, validAnswer } from '../../support/check/pain-messages.ts';
import { memoryInUse } from '../../support/measure.ts';
import { tGate, turns } from '../../support/turns.ts';

const right = rightMessage('pain.001.001.09');
const rejected: Answer = { ...validAnswer, valid: false };

describe('look-ups', () => {
  it('are made once for each distinct IBAN', async () => {
    const ask = vi.fn(async () => validAnswer);
    const { find: answer } = createAnswers({ ask });
    const { summary } = await findAllIn(generateMessage({ transactions: 500, accounts: 100 }), { answer });
    const asked = ask.mock.calls.map(([iban]: unknown[]) => iban);
    expect(asked).toHaveLength(101);
    expect(new Set(asked).size).toBe(101);
    expect(summary).toMatchObject({ transactions: 500, ibans: 101, sums: [{ currency: 'EUR', sum: '625.00' }] });
  });

  it('are not made for IBANs that are not valid', async () => {
    const asked = new Set<string>();
    const answer = (iban: string) => {
      asked.add(iban);
      return validAnswer;
    };
    await findAllIn(right.replaceAll('FR14', 'FR15'), { answer });
    expect([...asked]).toEqual(['DE89370400440532013000', 'NL91ABNA0417164300']);
  });

  it.each([
    { name: '5,000', options: {}, most: 5_000, transactions: 10_000 },
    { name: 'as many as the caller allows', options: { maxWaiting: 100 }, most: 100, transactions: 1_000 },
  ])('stop the reading while $name have no answer', async ({ options, most, transactions }) => {
    const gate = tGate();
    const asked = new Set<string>();
    let read = 0;
    const answer = async (iban: string) => {
      asked.add(iban);
      await gate.opened;
      return validAnswer;
    };
    const chunks = counting(generateMessage({ transactions, accounts: transactions }), (bytes) => {
      read += bytes;
    });
    const all = findAllIn(chunks, { answer, ...options });
    await turns(2000);
    // The message has more, with 500 bytes for each.
    expect(asked.size).toBeGreaterThanOrEqual(most);
    expect(asked.size).toBeLessThan(most + 200);
    expect(read).toBeLessThan(most * 700);
    gate.open();
    expect((await all).summary).toMatchObject({ ibans: transactions + 1, isComplete: true });
  });

  it('do not change the order of the findings', async () => {
    const gates = new Map<string, ReturnType<typeof tGate>>();
    const ask = async (iban: string) => {
      const gate = tGate();
      gates.set(iban, gate);
      await gate.opened;
      return rejected;
    };
    const { find: answer } = createAnswers({ ask });
    const changed = right.replace('Creditor 2', 'Café').replace('<NbOfTxs>3<', '<NbOfTxs>4<');
    const all = findAllIn(changed, { answer });
    await turns(10);
    for (const gate of [...gates.values()].reverse()) {
      gate.open();
      await turns(2);
    }
    const { findings } = await all;
    expect(findings.map(({ code, place }) => [code, place.line])).toEqual([
      ['REJECTED_BY_SERVICE', 21],
      ['REJECTED_BY_SERVICE', 32],
      ['CHARACTERS_NOT_SEPA', 40],
      ['REJECTED_BY_SERVICE', 43],
      ['REJECTED_BY_SERVICE', 57],
      ['REJECTED_BY_SERVICE', 68],
      ['TRANSACTION_COUNT_MISMATCH', 7],
    ]);
  });

  it('are asked for in long lists, and the last one is not waited for', async () => {
    const lists: number[] = [];
    const source = new AnswerSource({
      async send(ibans) {
        lists.push(ibans.length);
        await turns(2);
        return { results: ibans.map(() => validAnswer) };
      },
      ...{ maxList: 100, maxLists: 2, budgetReason: '', close: async () => {} },
    });
    const { find: answer } = createAnswers(source);
    const message = generateMessage({ transactions: 1000, accounts: 1000 });
    const { summary } = await findAllIn(message, { answer });
    expect(summary).toMatchObject({ ibans: 1001, isComplete: true });
    expect(lists.reduce((sum, length) => sum + length, 0)).toBe(1001);
    expect(lists.filter((length) => length < 100).length).toBeLessThan(3);
  });

  it('that are rejected end the check', async () => {
    const answer = () => Promise.reject(new Error('a fault'));
    await expect(findAllIn(right, { answer })).rejects.toThrow('a fault');
  });

  it('that fail are reported once for each IBAN', async () => {
    const { findings } = await findAllIn(right, { answer: () => ({ kind: 'failed', code: 'UPSTREAM_FAILED' }) });
    expect(findings.map(({ code }) => code)).toEqual(Array.from({ length: 3 }, () => 'SERVICE_FAILED'));
  });

  it('are not begun after the caller has left, and the file is closed', async () => {
    const asked = new Set<string>();
    let isClosed = false;
    const gate = tGate();
    const [start = '', rest = ''] = right.replace('TRF', 'XXX').split(/(?=<CdtTrfTxInf>)/);
    async function* chunks() {
      try {
        yield Buffer.from(start + rest);
        await gate.opened;
        yield Buffer.from(rest);
      } finally {
        isClosed = true;
      }
    }
    const answer = (iban: string) => {
      asked.add(iban);
      return validAnswer;
    };
    for await (const finding of tCheck(chunks(), { answer })) {
      expect(finding.code).toBe('WRONG_CODE');
      break;
    }
    gate.open();
    await turns(20);
    expect([...asked]).toEqual(['DE89370400440532013000', 'FR1420041010050500013M02606']);
    expect(isClosed).toBe(true);
  });
});

describe('a long message', () => {
  it('is read in bounded memory', async () => {
    const before = memoryInUse();
    let most = 0;
    let read = 0;
    const chunks = counting(generateMessage({ transactions: 12_500, accounts: 1000 }), (bytes) => {
      if (Math.floor((read + bytes) / 2e6) > Math.floor(read / 2e6)) most = Math.max(most, memoryInUse());
      read += bytes;
    });
    const { findings, summary } = await findAllIn(chunks);
    expect(findings).toEqual([]);
    expect(summary).toMatchObject({ transactions: 12_500, ibans: 1001, isComplete: true });
    expect(read).toBeGreaterThan(6_000_000);
    // Three hashes for each transaction.
    expect(most - before).toBeLessThan(8_000_000);
  });

  it('is refused at the limit, whatever follows', async () => {
    let read = 0;
    const chunks = counting(generateMessage({ transactions: 1_000_000, accounts: 10 }), (bytes) => {
      read += bytes;
    });
    const { findings, summary } = await findAllIn(chunks, { maxBytes: 5_000_000 });
    expect(findings).toMatchObject([{ code: 'LIMIT_EXCEEDED', message: 'The file is larger than 5 MB.' }]);
    expect(summary.isComplete).toBe(false);
    expect(read).toBeLessThan(5_100_000);
  });
});

async function* counting(text: AsyncIterable<Buffer>, count: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of text) {
    count(chunk.length);
    yield chunk;
  }
}

/** A right message of one payment; its transactions take turns with the accounts. */
async function* generateMessage({ transactions, accounts }: { transactions: number; accounts: number }) {
  const [, start = '', transaction = ''] =
    /^(.*?)( *<CdtTrfTxInf>.*?<\/CdtTrfTxInf>\n)/s.exec(right.replaceAll(/ *<CdtrAgt>.*?<\/CdtrAgt>\n/g, '')) ?? [];
  const sum = ((transactions * 5) / 4).toFixed(2);
  const number = `<NbOfTxs>${transactions}</NbOfTxs>`;
  yield Buffer.from(start.replaceAll(/<NbOfTxs>\d<\/NbOfTxs>/g, number).replaceAll(/(?<=<CtrlSum>)[^<]*/g, sum));
  const fixed = transaction.split(/(?<=TION-)1|(?<=ICE-)1|12\.35|FR1420041010050500013M02606|(?<=Invoice )1/);
  let text = '';
  for (let index = 0; index < transactions; index += 1) {
    const values = [index, index, '1.25', accountOf(index % accounts), index];
    text += fixed.map((part, at) => `${part}${values[at] ?? ''}`).join('');
    if (text.length < 64_000) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(`${text}    </PmtInf>\n  </CstmrCdtTrfInitn>\n</Document>\n`);
}

function accountOf(index: number): string {
  const bban = `37040044${String(index).padStart(10, '0')}`;
  return `DE${calcCheckDigits('DE', bban)}${bban}`;
}
