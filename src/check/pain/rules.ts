import type { Severity } from '../finding.ts';

/** The rules beside those of ISO 20022: none, of SEPA, of German banks in SEPA, or of Swiss banks. */
export type Scheme = 'iso' | 'sepa' | 'dk' | 'sps';

/* The documents are named in docs/payment-messages.md. */
const xml = 'XML 1.0';
const iso20022 = 'ISO 20022';
const epcFormats = 'EPC132-08, EPC130-08, EPC131-08';
const sdd = 'EPC130-08, EPC131-08';
const iso13616 = 'ISO 13616';
const addresses = 'EPC153-22';
const own = 'Ledgerquill';
const swiss = 'Swiss Payment Standards';

/* The schemes whose rules they are; without one, a rule holds for all payments. */
const sepa: readonly Scheme[] = ['sepa', 'dk'];
const all: readonly Scheme[] = ['sepa', 'dk', 'sps'];

/**
 * What is checked in a payment message, and the documents that say so. Codes are stable. An error is refused by a bank, a warning may
 * be, and a hint is a reason to look. A rule of schemes holds for their payments only, and one with a day for payments from that day on.
 * The table in docs/payment-messages.md says what each is, and what would be right.
 */
export const rules = {
  NOT_XML: { severity: 'error', source: xml },
  NOT_WELL_FORMED: { severity: 'error', source: xml },
  TRUNCATED: { severity: 'error', source: xml },
  DOCTYPE_REFUSED: { severity: 'error', source: iso20022 },
  LIMIT_EXCEEDED: { severity: 'error', source: own },
  ENCODING_NOT_SUPPORTED: { severity: 'error', source: epcFormats },
  ENCODING_CONTRADICTION: { severity: 'error', source: xml },
  ENCODING_BROKEN: { severity: 'error', source: xml },
  ENCODING_NOT_UTF8: { severity: 'hint', source: epcFormats },
  WRONG_NAMESPACE: { severity: 'error', source: iso20022 },
  UNSUPPORTED_MESSAGE: { severity: 'error', source: own },
  WRONG_ROOT: { severity: 'error', source: iso20022 },
  ELEMENT_OF_OTHER_VERSION: { severity: 'error', source: iso20022 },
  ELEMENT_NOT_EXPECTED: { severity: 'error', source: iso20022 },
  ELEMENT_ORDER: { severity: 'error', source: iso20022 },
  ELEMENT_REPEATED: { severity: 'error', source: iso20022 },
  ATTRIBUTE_NOT_EXPECTED: { severity: 'error', source: iso20022 },
  TEXT_NOT_EXPECTED: { severity: 'error', source: iso20022 },
  VERSION_ENDS: { severity: 'warning', source: `DFÜ agreement, ${swiss}` },
  VERSION_ENDED: { severity: 'error', source: `DFÜ agreement, ${swiss}` },
  SERVICE_LEVEL_UNKNOWN: { severity: 'warning', source: iso20022 },
  MISSING_ELEMENT: { severity: 'error', source: `${iso20022}, ${epcFormats}` },
  EMPTY_ELEMENT: { severity: 'error', source: iso20022 },
  WRONG_VALUE: { severity: 'error', source: iso20022 },
  TEXT_TOO_LONG: { severity: 'error', source: `${iso20022}, ${epcFormats}` },
  NAME_OVER_70: { severity: 'warning', schemes: all, source: epcFormats },
  CHARACTERS_NOT_SEPA: { severity: 'warning', schemes: sepa, source: `${epcFormats}, EPC217-08` },
  CHARACTERS_CONVERTED: { severity: 'hint', schemes: ['dk'], source: 'DFÜ agreement' },
  CHARACTERS_NOT_SWISS: { severity: 'warning', schemes: ['sps'], source: swiss },
  SLASHES_IN_REFERENCE: { severity: 'error', schemes: sepa, source: epcFormats },
  WRONG_CODE: { severity: 'error', schemes: sepa, source: `${iso20022}, ${epcFormats}` },
  WRONG_NUMBER: { severity: 'error', source: iso20022 },
  TRANSACTION_COUNT_MISMATCH: { severity: 'error', source: iso20022 },
  CONTROL_SUM_MISMATCH: { severity: 'error', source: iso20022 },
  CONTROL_SUM_MISSING: { severity: 'hint', schemes: sepa, source: epcFormats },
  DUPLICATE_MESSAGE_ID: { severity: 'error', source: iso20022 },
  DUPLICATE_PAYMENT_ID: { severity: 'error', source: iso20022 },
  DUPLICATE_END_TO_END_ID: { severity: 'hint', source: epcFormats },
  DUPLICATE_UETR: { severity: 'error', source: iso20022 },
  DUPLICATE_PAYMENT: { severity: 'warning', source: own },
  IBAN_NOT_COMPACT: { severity: 'error', source: iso13616 },
  EMPTY: { severity: 'error', source: iso13616 },
  ILLEGAL_CHARACTERS: { severity: 'error', source: iso13616 },
  UNKNOWN_COUNTRY: { severity: 'error', source: iso13616 },
  NOT_REGISTERED: { severity: 'error', schemes: all, source: iso13616 },
  TOO_SHORT: { severity: 'error', source: iso13616 },
  TOO_LONG: { severity: 'error', source: iso13616 },
  WRONG_STRUCTURE: { severity: 'error', source: iso13616 },
  CHECK_DIGITS_OUT_OF_RANGE: { severity: 'error', source: `${iso13616}, ISO/IEC 7064` },
  WRONG_CHECK_DIGITS: { severity: 'error', source: `${iso13616}, ISO/IEC 7064` },
  NATIONAL_CHECK_FAILED: { severity: 'hint', source: 'National banking associations' },
  IBAN_OUTSIDE_SEPA: { severity: 'error', schemes: sepa, source: 'EPC409-09' },
  REJECTED_BY_SERVICE: { severity: 'error', source: 'The bank-data service' },
  SERVICE_FAILED: { severity: 'error', source: own },
  NOT_CHECKED: { severity: 'error', source: own },
  BIC_ILLEGAL_CHARACTERS: { severity: 'error', source: 'ISO 9362, Regulation (EU) No 260/2012' },
  BIC_WRONG_LENGTH: { severity: 'error', source: 'ISO 9362' },
  BIC_UNKNOWN_COUNTRY: { severity: 'error', source: 'ISO 9362' },
  BIC_NOT_PROVIDED: { severity: 'error', schemes: sepa, source: epcFormats },
  BIC_FOR_TESTS: { severity: 'warning', source: 'ISO 9362' },
  INSTITUTION_EMPTY: { severity: 'warning', schemes: ['sepa'], source: epcFormats },
  INSTITUTION_MISSING: { severity: 'error', schemes: ['dk'], source: 'DFÜ agreement' },
  INSTITUTION_OTHER: { severity: 'error', schemes: sepa, source: epcFormats },
  PAYEE_BANK_OTHER: { severity: 'error', schemes: ['dk'], source: 'DFÜ agreement' },
  NOT_IN_SCHEME: { severity: 'warning', schemes: sepa, source: 'Registers of the EPC' },
  VERIFICATION_NOT_OFFERED: { severity: 'hint', schemes: sepa, source: 'Registers of the EPC' },
  PAYEE_VERIFICATION: { severity: 'hint', schemes: sepa, source: 'Regulation (EU) 2024/886' },
  REPORT_OF_OTHER_MESSAGE: { severity: 'error', source: iso20022 },
  REPORT_NOT_MATCHED: { severity: 'warning', source: own },
  BANK_REJECTED: { severity: 'error', source: 'The report of the bank' },
  BANK_ATTENTION: { severity: 'warning', source: 'The report of the bank' },
  BANK_PENDING: { severity: 'hint', source: 'The report of the bank' },
  BANK_STATUS_UNKNOWN: { severity: 'warning', source: 'The report of the bank' },
  PAYEE_NAME_DIFFERS: { severity: 'error', source: 'The report of the bank' },
  PAYEE_NAME_SIMILAR: { severity: 'warning', source: 'The report of the bank' },
  PAYEE_NOT_VERIFIED: { severity: 'warning', source: 'The report of the bank' },
  BIC_OF_OTHER_BANK: { severity: 'hint', source: own },
  COUNTRY_INVALID: { severity: 'error', source: `${iso20022}, ISO 3166-1` },
  ADDRESS_REQUIRED: { severity: 'error', schemes: sepa, source: 'Regulation (EU) 2023/1113' },
  ADDRESS_UNSTRUCTURED: { severity: 'error', schemes: all, from: '2026-11-15', source: addresses },
  ADDRESS_WITHOUT_TOWN: { severity: 'error', schemes: all, source: addresses },
  ADDRESS_WITHOUT_COUNTRY: { severity: 'error', schemes: all, source: addresses },
  ADDRESS_LINES: { severity: 'error', schemes: all, source: addresses },
  ADDRESS_HYBRID: { severity: 'hint', schemes: all, from: '2026-11-15', source: addresses },
  CURRENCY_INVALID: { severity: 'error', source: `${iso20022}, ISO 4217` },
  CURRENCY_NOT_EUR: { severity: 'error', schemes: sepa, source: epcFormats },
  AMOUNT_FORMAT: { severity: 'error', source: `${iso20022}, ${epcFormats}` },
  AMOUNT_OUT_OF_RANGE: { severity: 'error', schemes: sepa, source: epcFormats },
  DATE_FORMAT: { severity: 'error', source: iso20022 },
  EXECUTION_DATE_PAST: { severity: 'warning', source: epcFormats },
  EXECUTION_DATE_NO_BUSINESS_DAY: { severity: 'hint', schemes: sepa, source: 'Calendar of TARGET' },
  SIGNATURE_DATE_IN_FUTURE: { severity: 'warning', schemes: sepa, source: sdd },
  CREDITOR_ID_INVALID: { severity: 'error', schemes: sepa, source: 'EPC262-08, ISO/IEC 7064' },
  AMENDMENT_MISSING: { severity: 'error', schemes: sepa, source: sdd },
  AMENDMENT_NOT_INDICATED: { severity: 'warning', schemes: sepa, source: sdd },
  CHARGE_BEARER_NOT_SLEV: { severity: 'error', schemes: sepa, source: epcFormats },
  REMITTANCE_TOO_LONG: { severity: 'error', schemes: sepa, source: epcFormats },
  REFERENCE_NOT_COMPACT: { severity: 'warning', source: `ISO 11649, ${swiss}` },
  REFERENCE_CHECK_DIGITS: { severity: 'warning', source: `ISO 11649, ${swiss}, Febelfin` },
  LEI_CHECK_DIGITS: { severity: 'error', source: 'ISO 17442' },
  QR_IBAN: { severity: 'error', source: swiss },
  QR_REFERENCE: { severity: 'error', source: swiss },
  EXTERNAL_CODE_UNKNOWN: { severity: 'warning', source: iso20022 },
  CODE_REQUIRED: { severity: 'error', schemes: sepa, source: epcFormats },
  PURPOSE_FORMAT: { severity: 'warning', source: iso20022 },
  REMITTANCE_REPEATED: { severity: 'warning', schemes: sepa, source: epcFormats },
} as const satisfies Rules;

interface Rule {
  severity: Severity;
  schemes?: readonly Scheme[];
  /** ISO 8601: the first day of execution for which it holds. */
  from?: string;
  source: string;
}
type Rules = Record<string, Rule>;

export type RuleCode = keyof typeof rules;

/** Whether a rule holds for a payment of a scheme, on the day of its execution. @param day ISO 8601 */
export function holds(code: RuleCode, scheme: Scheme, day: string): boolean {
  const { schemes, from = '' }: Rule = rules[code];
  return (schemes?.includes(scheme) ?? true) && day >= from;
}

/** Ends the check: the rest of the file cannot be read, or must not be. Its message never contains text of the file. */
export class Refusal extends Error {
  readonly code: RuleCode;
  /** Where the cause is, if it is earlier in the file than what is read; otherwise null. */
  readonly line: number | null;

  constructor(code: RuleCode, message: string, line: number | null = null) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.line = line;
  }
}
