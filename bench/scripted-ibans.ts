import { buildIban } from '../src/iban/build-iban.ts';

/** How the scripted upstream answers; in an IBAN, the bank code says it. */
const bankCodes = {
  answer: '10000000',
  /** Answers after 200 ms. */
  dawdle: '20000000',
  /** 500. */
  fail: '30000000',
  /** Never answers. */
  hang: '40000000',
  /** Breaks off in the middle of its answer. */
  truncate: '50000000',
  /** Breaks off before any answer. */
  reset: '60000000',
};

export type Manner = keyof typeof bankCodes;

const manners = new Map(Object.entries(bankCodes).map(([manner, bankCode]) => [bankCode, manner as Manner]));

/** Another valid IBAN for every number up to ten digits long. */
export function scriptedIban(manner: Manner, number: number): string {
  const generated = buildIban({ country: 'DE', bankCode: bankCodes[manner], accountNumber: String(number) });
  if (generated.kind === 'invalid') throw new Error(generated.problems.map(({ message }) => message).join(' '));
  return generated.iban;
}

export function mannerOf(iban: string): Manner {
  return manners.get(iban.slice(4, 12)) ?? 'answer';
}

/** The scripted bank of this IBAN, and of no other: answers that were mixed up show. */
export function scriptedBankName(iban: string): string {
  return `Bank of ${iban.slice(4)}`;
}

/** What the scripted essay service is told by the first word of a description. */
export function readManner(description: string): Manner {
  const [word = ''] = description.split(' ', 1);
  return word in bankCodes ? (word as Manner) : 'answer';
}
