import type { BicSource } from '../../../banks/listed-bank.ts';
import { isObject } from '../../../base/parse-json.ts';
import { compactBic } from '../../../iban/bic.ts';
import { type IbanRuleState, ibanRuleStates } from '../../../iban/build-iban.ts';
import { countryName } from '../../../iban/country-name.ts';
import { compactIban, findIbanProblems, parseIban } from '../../../iban/iban.ts';
import { findCountryFormat } from '../../../iban/registry.ts';
import { findRefusal } from '../../upstream/upstream-error.ts';
import type { BankData, BicValidation, IbanData, IbanValidation } from '../bank-data.ts';

/*
 * The bodies of the service's responses, read tolerantly: absent, null, "", "N/A", "-" and "null" are the same; a number or boolean
 * where text is expected becomes text, and a code that is a number gets its leading zeros from the IBAN; a value of any other type
 * is treated as absent.
 */

/** Whether a body is about this compacted IBAN, by the IBAN or else the BBAN that it names; true if it names neither. */
export function isAboutIban(body: unknown, iban: string): boolean {
  const wire = readObject(body);
  const found = readText(wire?.iban);
  if (found !== null) return found === iban || compactIban(found) === iban;
  const bban = readObject(wire?.iban_data)?.BBAN;
  return typeof bban !== 'string' || readText(bban) === null || compactIban(bban) === iban.slice(4);
}

/** Parses the answer of `iban_validate` or `iban_generate` for this compacted IBAN; null if the body has another shape. */
export function readIbanAnswer(body: unknown, iban: string): IbanValidation | null {
  const wire = readObject(body);
  const valid = readFlag(wire?.valid);
  if (wire === null || valid === null || (!valid && isRefusal(body))) return null;
  const ibanData = readIbanData(wire.iban_data, iban);
  let bankData = readBankData(wire.bank_data, iban);
  if (bankData !== null && ibanData !== null) {
    // Without its leading zeros, it is the code of the same bank.
    const isSame = bankData.bankCode !== null && Number(bankData.bankCode) === Number(ibanData.bankCode);
    if (isSame) bankData.bankCode = ibanData.bankCode;
    else if (bankData.bankCode !== ibanData.bankCode && !isOfIban(wire.iban_data, iban)) bankData = null;
  }
  return valid ? { iban, valid, problems: [], ibanData, bankData } : { ...toRejectedIban(iban), ibanData, bankData };
}

/**
 * Whether a body that denies something does so because the service did not look it up: `{"valid":false,"message":"Quota exceeded"}`,
 * `{"valid":false,"status":503}`.
 */
function isRefusal(body: unknown): boolean {
  const codes = ['status', 'code', 'statusCode', 'status_code'].map((name) => Number(readObject(body)?.[name]));
  return (
    findRefusal(body) !== null ||
    codes.some((code) => [401, 402, 403, 429].includes(code) || (code >= 500 && code < 600))
  );
}

/** The answer for an IBAN that the service rejects. */
export function toRejectedIban(iban: string): IbanValidation {
  return { iban, valid: false, problems: orRejected(findIbanProblems(iban)), ibanData: null, bankData: null };
}

export function orRejected<Problem>(problems: readonly Problem[]): readonly (Problem | 'REJECTED_BY_SERVICE')[] {
  return problems.length > 0 ? problems : ['REJECTED_BY_SERVICE'];
}

/** The IBAN in an answer; null if there is none. */
export function readIban(body: unknown): string | null {
  return readText(readObject(body)?.iban);
}

/** What the answer of `iban_generate` says of the rule of a German bank; null where the service does not say it. */
export function readIbanRule(body: unknown): IbanRuleState | null {
  return ibanRuleStates.find((state) => state === readObject(body)?.iban_rule) ?? null;
}

/** The BBAN and its parts are those of the IBAN, if the service has returned the parts of another account. */
function readIbanData(value: unknown, iban: string): IbanData | null {
  const wire = readObject(value);
  if (wire === null) return null;
  if (!isOfIban(wire, iban)) return computeIbanData(iban);
  const { bank_code, branch, account_number, national_checksum } = wire;
  const types = [typeof bank_code, typeof branch, typeof account_number, typeof national_checksum];
  const parts = types.includes('number') ? parseIban(iban) : null;
  const data = unlessEmpty({
    country: readText(wire.country),
    countryCode: readText(wire.country_code),
    sepaCountry: readFlag(wire.sepa_country),
    checksum: readText(wire.checksum),
    bban: readText(wire.BBAN),
    bankCode: readCode(bank_code, parts?.bankCode),
    accountNumber: readCode(account_number, parts?.bbanRemainder),
    branch: readCode(branch, parts?.branch),
    nationalChecksum: readCode(national_checksum, parts?.nationalCheckDigits),
    countryIbanFormatAsSwift: readText(wire.country_iban_format_as_swift),
    countryIbanFormatAsRegex: readText(wire.country_iban_format_as_regex),
  });
  if (data === null) return null;
  data.countryCode ??= iban.slice(0, 2);
  data.checksum = iban.slice(2, 4);
  data.bban = iban.slice(4);
  return data as IbanData;
}

/** Whether each part of an account that a value names is in this IBAN. */
function isOfIban(value: unknown, iban: string): boolean {
  const wire = readObject(value);
  const bban = iban.slice(4);
  if (typeof wire?.BBAN === 'string' && readText(wire.BBAN) !== null && compactIban(wire.BBAN) !== bban) return false;
  return [wire?.bank_code, wire?.branch, wire?.account_number, wire?.national_checksum].every((part) => {
    const text = readText(part);
    return text === null || bban.includes(text) || bban.includes(compactIban(text));
  });
}

/** The parts of an IBAN according to the registry; null if its structure is wrong. */
export function computeIbanData(iban: string): IbanData | null {
  const parts = parseIban(iban);
  const format = findCountryFormat(iban.slice(0, 2));
  if (parts === null || format === null) return null;
  return {
    country: countryName(format.country),
    countryCode: format.country,
    sepaCountry: format.sepa,
    checksum: parts.checkDigits,
    bban: parts.bban,
    bankCode: parts.bankCode,
    accountNumber: parts.bbanRemainder,
    branch: parts.branch,
    nationalChecksum: parts.nationalCheckDigits,
    countryIbanFormatAsSwift: format.format,
    countryIbanFormatAsRegex: format.regex.source,
  };
}

/** The code as the IBAN has it, if it is the same number: a number has no leading zeros, and only 15 exact digits. */
function readCode(code: unknown, part: string | null | undefined): string | null {
  return typeof code === 'number' && part && Number(part) === code ? part : readText(code);
}

/** Null if the service knows only the code, which is a part of the IBAN and no knowledge of a bank. */
function readBankData(value: unknown, iban: string): BankData | null {
  const bank = readBank(readObject(value));
  bank.countryCode = iban.slice(0, 2);
  const { name, address, zip, city, bic } = bank;
  return unlessEmpty({ name, address, zip, city, bic }) && bank;
}

/** Whether a body of `swift_check` is about this compacted BIC; true if it names none. */
export function isAboutBic(body: unknown, bic: string): boolean {
  const found = readBank(readObject(readObject(body)?.bank_data)).bic;
  return found === null || isBicOrHeadOffice(compactBic(found), bic);
}

/** Parses the body of `swift_check`; null if it has another shape. */
export function readBicAnswer(body: unknown): Pick<BicValidation, 'valid' | 'bank'> | null {
  const wire = readObject(body);
  const valid = readFlag(wire?.valid);
  if (wire === null || valid === null || (!valid && isRefusal(body))) return null;
  return { valid, bank: unlessEmpty(readBank(readObject(wire.bank_data))) };
}

/** A directory may list only the head office (XXX, or no branch) of a bank. */
function isBicOrHeadOffice(found: string, bic: string): boolean {
  const branch = found.slice(8) || 'XXX';
  return found.slice(0, 8) === bic.slice(0, 8) && (branch === 'XXX' || branch === bic.slice(8));
}

export type ServicePage = NonNullable<ReturnType<typeof readServicePage>>;

/**
 * Parses the body of `all`; null if it has another shape. It is a page of Laravel:
 * https://laravel.com/docs/pagination#converting-results-to-json
 */
export function readServicePage(body: unknown) {
  const wire = readObject(body);
  if (wire === null || !Array.isArray(wire.data) || (wire.data.length === 0 && isRefusal(body))) return null;
  if (wire.data.length > maxItems) return null;
  const items = wire.data.map(readObject);
  if (items.includes(null)) return null;
  const meta = readObject(wire.meta);
  return {
    banks: items.flatMap((item) => (item ? [readListItem(item)] : [])),
    // Null where the service does not return it.
    perPage: readCount(meta?.per_page) || null,
    lastPage: readCount(meta?.last_page),
    total: readCount(meta?.total),
  };
}

/** Ten times as many as the gateway requests. */
const maxItems = 1_000;

/** A US bank has a routing number (`us_routing`) instead of a bank code. */
function readListItem(wire: Readonly<Record<string, unknown>>): BankData {
  const ibanData = readObject(wire.iban_data);
  const usRouting = readText(wire.us_routing);
  const swiftBank = unlessEmpty(readBank(readObject(wire.swift_data)));
  const bank = swiftBank ?? readBank(readObject(wire.bank_data));
  return {
    ...bank,
    bankCode: bank.bankCode ?? readText(ibanData?.bank_code) ?? usRouting,
    countryCode: bank.countryCode ?? readText(ibanData?.country_code) ?? (usRouting === null ? null : 'US'),
    date: bank.date ?? readText(wire.revision_date)?.match(isoDay)?.[0] ?? null,
  };
}

/** The endpoints use different names for the same field. */
function readBank(wire: Readonly<Record<string, unknown>> | null): BankData {
  const status = wire?.status === 'LISTED' || wire?.status === 'DELETED' ? wire.status : null;
  return {
    bankCode: readText(wire?.bank_code),
    countryCode: readText(wire?.country_code),
    name: readText(wire?.name),
    address: readText(wire?.address),
    zip: readText(wire?.zip),
    city: readText(wire?.city),
    bic: readText(wire?.swift) ?? readText(wire?.bic),
    // Where the record is from: only the self-hosted service reports it.
    bicSource: bicSources.includes(wire?.bic_source) ? (wire?.bic_source as BicSource) : null,
    status,
    successor: status === 'DELETED' ? readText(wire?.successor) : null,
    source: readText(wire?.source),
    date: readText(wire?.date)?.match(isoDay)?.[0] ?? null,
  };
}

const bicSources: readonly unknown[] = [
  'NATIONAL_LIST',
  'REGISTER',
  'CURATED',
  'CORRECTED',
] satisfies readonly BicSource[];

function readText(value: unknown): string | null {
  if (typeof value === 'string') {
    const text = value.trim();
    return (text.length <= longestAbsent || text.startsWith('-')) && absent.test(text) ? null : text;
  }
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return String(value);
  return null;
}

const absent = /^(?:n\/a|n\.a\.?|null|undefined|-*)$/i;
/** Besides dashes. */
const longestAbsent = 9;

/** The day of a date in ISO 8601. In other formats, day and month may be the other way round. */
const isoDay = /^\d{4}-\d\d-\d\d/;

function readFlag(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value;
  const text = readText(value) ?? '';
  if (/^(true|yes|1)$/i.test(text)) return true;
  return /^(false|no|0)$/i.test(text) ? false : null;
}

function readCount(value: unknown): number | null {
  const text = readText(value) ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** Null where it is absent or no object, such as [] (an empty array in PHP). */
function readObject(value: unknown): Readonly<Record<string, unknown>> | null {
  return isObject(value) ? value : null;
}

/** Null where all of its values are. */
function unlessEmpty<Values extends object>(values: Values): Values | null {
  for (const name in values) if (values[name] !== null) return values;
  return null;
}
