import type { NationalCheck } from './national-checks/national-check.ts';
import { findNationalCheck } from './national-checks.ts';
import type { CountryFormat, Span } from './registry.ts';

export const ibanFieldNames = ['bankCode', 'branch', 'accountNumber'] as const;

export type IbanFieldName = (typeof ibanFieldNames)[number];

/** A part of the BBAN that has to be known before an IBAN can be generated. */
export interface IbanField {
  name: IbanFieldName;
  length: number;
  characters: 'digits' | 'letters' | 'letters and digits';
  /** Whether it may be shorter, and is then filled up with zeros on the left. */
  padded: boolean;
}

/** A field where it stands in the BBAN. */
export interface PlacedField extends IbanField {
  span: Span;
  /** What each of its characters may be: n a digit, a a letter, c either. */
  kinds: string;
}

/**
 * The fields of a country in the order of the BBAN. National check digits that can be computed are left out of the
 * account number; all others stay in it, since somebody has to know them: before the number (AL), behind it (BI, FO,
 * GL, SE), or in it where the registry does not set them apart (CZ, HR, HU's first digit, NL, XK). So do the kind of
 * account and its holder (BR).
 */
export function placeFields(format: CountryFormat): readonly PlacedField[] {
  const kinds = [...format.format.slice(head.length).matchAll(/(\d+)!([nac])/g)]
    .map(([, count, kind = '']) => kind.repeat(Number(count)))
    .join('');
  const place = (name: IbanFieldName, span: Span): PlacedField => {
    const own = kinds.slice(span.first - 1, span.last);
    return {
      name,
      length: own.length,
      characters: nameCharacters(own),
      padded: isPadded(name, format),
      span,
      kinds: own,
    };
  };
  return [
    place('bankCode', format.bankCode),
    ...(format.branch ? [place('branch', format.branch)] : []),
    place('accountNumber', accountSpan(format)),
  ];
}

/** What puts the national check digits into a BBAN; null where none are missing once all fields are in place. */
export function findCompletion(format: CountryFormat): NationalCheck['complete'] | null {
  return format.nationalCheckDigits && (findNationalCheck(format.country)?.complete ?? null);
}

/** The country code and the check digits, before the BBAN begins. */
const head = 'DE2!n';

/** Their branch is the account prefix, which is written without leading zeros. */
const paddedBranches: ReadonlySet<string> = new Set(['CZ', 'SK']);

/**
 * Account numbers that are of no use unless they are whole, as zeros on the left would displace what they begin with
 * (AL, HU: a check digit; BG, BY, GT, IS, RU: the kind of account), belong in the middle (FI), or would hide that the
 * check digit was taken for part of the number, which is how these are written (BE, EE, NO), or that a digit of a
 * number of fixed length is missing (PL).
 */
const wholeAccounts: ReadonlySet<string> = new Set('AL BE BG BY EE FI GT HU IS NO PL RU'.split(' '));

function isPadded(name: IbanFieldName, { country, parent }: CountryFormat): boolean {
  const owner = parent ?? country;
  if (name === 'bankCode') return false;
  return name === 'branch' ? paddedBranches.has(owner) : !wholeAccounts.has(owner);
}

/** From bank code and branch to the end, but for check digits that will be computed: before (ES) or behind it (FR). */
function accountSpan(format: CountryFormat): Span {
  const [first, last] = [(format.branch ?? format.bankCode).last + 1, format.length - 4];
  const computed = findCompletion(format) ? format.nationalCheckDigits : null;
  return {
    first: computed?.first === first ? computed.last + 1 : first,
    last: computed?.last === last ? computed.first - 1 : last,
  };
}

function nameCharacters(kinds: string): IbanField['characters'] {
  if (/^n+$/.test(kinds)) return 'digits';
  return /^a+$/.test(kinds) ? 'letters' : 'letters and digits';
}
