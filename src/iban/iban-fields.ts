import type { NationalCheck } from './national-checks/national-check.ts';
import { findNationalCheck } from './national-checks.ts';
import type { CountryFormat, Span } from './registry.ts';

export const ibanFieldNames = ['bankCode', 'branch', 'accountNumber'] as const;

export type IbanFieldName = (typeof ibanFieldNames)[number];

/** A part of the BBAN that is required to generate an IBAN. */
export interface IbanField {
  name: IbanFieldName;
  length: number;
  characters: 'digits' | 'letters' | 'letters and digits';
  /** Whether a shorter value is filled up with zeros on the left. */
  padded: boolean;
}

/** A field with its position in the BBAN. */
export interface LocatedField extends IbanField {
  span: Span;
  /** The type of each character: n for a digit, a for a letter, c for either. */
  types: string;
}

/**
 * The fields of a country in the order of the BBAN. The account number does not include national check digits that can
 * be computed. It includes all others: before the number (AL), after it (BI, FO, GL, SE), or within it if the registry
 * does not separate them (CZ, HR, HU's first digit, NL, XK). It also includes the type of account and its holder (BR).
 */
export function locateFields(format: CountryFormat): readonly LocatedField[] {
  const known = fieldsOf.get(format);
  if (known) return known;
  const bbanTypes = [...format.format.slice('DE2!n'.length).matchAll(/(\d+)!([nac])/g)]
    .map(([, count, type = '']) => type.repeat(Number(count)))
    .join('');
  const locate = (name: IbanFieldName, span: Span): LocatedField => {
    const types = bbanTypes.slice(span.first - 1, span.last);
    const characters = nameCharacters(types);
    return { name, length: types.length, characters, padded: isPadded(name, format), span, types };
  };
  const fields = [
    locate('bankCode', format.bankCode),
    ...(format.branch ? [locate('branch', format.branch)] : []),
    locate('accountNumber', locateAccountNumber(format)),
  ];
  fieldsOf.set(format, fields);
  return fields;
}

const fieldsOf = new WeakMap<CountryFormat, readonly LocatedField[]>();

/** Computes the national check digits of a BBAN; null if the fields already include them or there are none. */
export function findCheckDigitCompletion(format: CountryFormat): NationalCheck['complete'] | null {
  return format.nationalCheckDigits && (findNationalCheck(format.country)?.complete ?? null);
}

/** Their branch is the account prefix, which is written without leading zeros. */
const paddedBranches: ReadonlySet<string> = new Set(['CZ', 'SK']);

/**
 * Countries whose account numbers must be complete. Zeros on the left would displace the leading characters (AL, HU: a
 * check digit; BG, BY, GT, IS, RU: the type of account), belong in the middle (FI), or would hide a mistake: that the
 * check digit was entered as part of the number, as is usual (BE, EE, NO), or that a digit of a number of fixed length
 * is missing (PL).
 */
const completeAccounts: ReadonlySet<string> = new Set('AL BE BG BY EE FI GT HU IS NO PL RU'.split(' '));

function isPadded(name: IbanFieldName, { country, parent }: CountryFormat): boolean {
  const owner = parent ?? country;
  if (name === 'bankCode') return false;
  return name === 'branch' ? paddedBranches.has(owner) : !completeAccounts.has(owner);
}

/** From bank code and branch to the end, without computed check digits before (ES) or after it (FR). */
function locateAccountNumber(format: CountryFormat): Span {
  const [first, last] = [(format.branch ?? format.bankCode).last + 1, format.length - 4];
  const computed = findCheckDigitCompletion(format) ? format.nationalCheckDigits : null;
  return {
    first: computed?.first === first ? computed.last + 1 : first,
    last: computed?.last === last ? computed.first - 1 : last,
  };
}

function nameCharacters(types: string): IbanField['characters'] {
  if (/^n+$/.test(types)) return 'digits';
  return /^a+$/.test(types) ? 'letters' : 'letters and digits';
}
