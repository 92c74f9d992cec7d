import { matchBic } from '../bank-lists/match-bic.ts';
import { compactBic } from '../iban/bic.ts';
import { parseIban } from '../iban/iban.ts';
import type { AnswerSource } from './answers/answer.ts';
import type { Answers } from './answers/ask-once.ts';
import { type BankFacts, checkNationally } from './judge-row.ts';
import { checkPainMessage, type PainCheck } from './pain/check-pain-message.ts';
import type { IbanAnswer } from './pain/look-ups.ts';

interface CheckMessageOptions {
  chunks: AsyncIterable<Uint8Array>;
  answers: Pick<Answers, 'find'>;
  /** Null if nothing is asked. */
  source: Pick<AnswerSource, 'hurry'> | null;
  banks: BankFacts;
  /** Those of the messages that were checked before; that of this one is added. */
  messageIds: Set<string>;
}

/** Checks a payment message with the answers and the bank lists that tables are checked with. */
export function checkMessage({ chunks, answers, source, banks, messageIds }: CheckMessageOptions): PainCheck {
  return checkPainMessage(chunks, {
    lookUpIban: async (iban): Promise<IbanAnswer> => {
      const answer = await answers.find(iban);
      if (answer.kind !== 'answered') return answer;
      const parts = parseIban(iban);
      const listed = parts === null ? [] : banks.bics(parts.countryCode, parts.bankCode);
      const bics = answer.bic ? [compactBic(answer.bic), ...listed] : listed;
      return { kind: 'answered', valid: answer.valid, bics };
    },
    hurry: (iban) => source?.hurry(iban),
    maxLookUps,
    matchBic,
    isKnownBank: banks.has,
    nationalCheck: (iban) => checkNationally(iban, banks),
    messageIds,
    today: new Date().toISOString().slice(0, 10),
  });
}

/** Two full lists of a gateway. */
const maxLookUps = 2_000;
