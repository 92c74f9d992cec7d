import { readFileSync } from 'node:fs';
import { fullBic } from '../iban/bic.ts';
import type { ListedBank } from './listed-bank.ts';

/*
 * Our corrections of bank lists, in bank-corrections.tsv: rows that are wrong, missing or out of date in the lists of the package, BICs of
 * registers of institutions that are not those of their accounts, and banks that have closed or merged: their bank codes remain in the
 * IBANs of old accounts and mandates. Each correction has its reason beside it.
 */

interface Correction {
  bankCode: string;
  bic: string;
  reason: string;
  /** The bank code of the successor of a closed bank; empty if it is unknown. */
  successor: string;
  /** For banks that the list does not name; may be empty. */
  name: string;
}

/** The date of the latest correction, in ISO 8601. */
export const correctionsDate = '2026-11-27';

/** Whether the list of this country is a register of institutions, whose BICs may not be those of their accounts. */
export function isRegister(country: string): boolean {
  return country === 'FR' || country === 'ES';
}

/** BICs that banks had before under the same bank code, with its bank code. */
export function formerBics(country: string): [bankCode: string, bic: string][] {
  return readCorrections(country).flatMap(({ reason, bankCode, bic }) =>
    reason === 'former' ? [[bankCode, bic]] : [],
  );
}

/**
 * The list of a country with our corrections: rows are corrected or added, and closed banks are deleted. A bank that an imported list
 * has is open, whereas lists in the package keep closed ones.
 */
export function correctBanks(country: string, banks: readonly ListedBank[], { isImport = false } = {}): ListedBank[] {
  const written = readCorrections(country).filter(({ reason }) => reason !== 'former');
  const corrections = [...correctAgricole(country, banks), ...written];
  if (corrections.length === 0) return [...banks];
  const corrected = new Map(banks.map((bank) => [bank.bankCode, bank]));
  for (const correction of corrections) {
    const { bankCode, reason } = correction;
    const listed = corrected.get(bankCode);
    if (reason !== 'closed') corrected.set(bankCode, correctBank(country, correction, listed));
    else if (!isImport || listed === undefined) corrected.set(bankCode, createClosedBank(country, correction));
  }
  return [...corrected.values()];
}

/** What a correction relies on, by its name in the table: another published list, or IBANs and BICs that account holders publish. */
const sources: Readonly<Record<string, string>> = {
  statements: 'payment details that account holders publish',
  lists: 'newer lists of the banks of the country',
  bics: 'a list of BICs of 2024',
  registers: 'registers of 2015 to 2024',
  both: 'newer lists of the banks of the country, and a list of BICs of 2024',
  agricole: 'the rule of Crédit Agricole and payment details that account holders publish',
  caisse: "the rule of Caisse d'Épargne and payment details that account holders publish",
};

/** The regional banks have one BIC in the register. The digits are the second and third of the bank code, 882 for 18206. */
function correctAgricole(country: string, banks: readonly ListedBank[]): Correction[] {
  if (country !== 'FR') return [];
  const regional = banks.filter(({ bic }) => bic.startsWith('AGRIFRCC'));
  return regional.map(({ bankCode }) => {
    const bic = `AGRIFRPP8${bankCode.slice(1, 3)}`;
    return { bankCode, bic, reason: 'agricole', successor: '', name: 'Crédit Agricole' };
  });
}

/** Read on every call, as all lists are. */
function readCorrections(country: string): Correction[] {
  const rows = readFileSync(new URL('bank-corrections.tsv', import.meta.url), 'utf8').split('\n');
  return rows
    .filter((row) => row.startsWith(`${country}\t`))
    .map((row) => {
      const [, bankCode = '', bic = '', reason = '', successor = '', name = ''] = row.split('\t');
      return { bankCode, bic, reason, successor, name };
    });
}

/** A row that is right already, such as one of a newer list, only gets its name. */
function correctBank(country: string, correction: Correction, listed: ListedBank | undefined): ListedBank {
  const { bankCode, bic, reason } = correction;
  const name = listed?.name || correction.name;
  if (listed && fullBic(listed.bic) === fullBic(bic)) return { ...listed, name };
  const source = sources[reason] ?? '';
  const bicSource = 'CORRECTED';
  return listed === undefined
    ? { country, bankCode, name, zip: '', city: '', bic, bicSource, source, date: correctionsDate }
    : { ...listed, name, bic, bicSource, source: `${listed.source}; BIC from ${source} (${correctionsDate})` };
}

function createClosedBank(country: string, { bankCode, bic, successor, name }: Correction): ListedBank {
  const source = 'list of closed banks of Ledgerquill';
  return {
    ...{ country, bankCode, name, zip: '', city: '', bic, bicSource: 'CORRECTED', date: correctionsDate },
    isDeleted: true,
    ...(successor === '' ? { source } : { source: `${source}; its successor is ${successor}`, successor }),
  };
}
