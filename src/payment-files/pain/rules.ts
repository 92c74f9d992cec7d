import type { Finding, Place, Severity } from '../finding.ts';

interface Rule {
  severity: Severity;
  /** What was found. */
  title: string;
  /** What would be right. */
  right: string;
  /** The documents that say so. */
  source: string;
}

/* The documents are named in docs/payment-messages.md. */
const xml = 'XML 1.0';
const iso20022 = 'ISO 20022';
const epcFormats = 'EPC132-08, EPC130-08, EPC131-08';
const sdd = 'EPC130-08, EPC131-08';
const iso13616 = 'ISO 13616';
const addresses = 'EPC153-22';
const own = 'Ledgerquill';

/**
 * What is checked in a payment message, in the order of docs/payment-messages.md. Codes are stable. An error is refused by a bank,
 * a warning may be, and a hint is a reason to look.
 */
export const rules = {
  NOT_XML: {
    severity: 'error',
    title: 'The file is empty or not XML',
    right: 'A pain.001 or pain.008 message in XML',
    source: xml,
  },
  NOT_WELL_FORMED: {
    severity: 'error',
    title: 'The XML has a syntax error',
    right: 'Well-formed XML',
    source: xml,
  },
  TRUNCATED: {
    severity: 'error',
    title: 'The file ends before its last element is closed',
    right: 'The complete file, down to `</Document>`',
    source: xml,
  },
  DOCTYPE_REFUSED: {
    severity: 'error',
    title: 'The file has a document type declaration, which could define entities',
    right: 'No `<!DOCTYPE`; ISO 20022 messages have none',
    source: iso20022,
  },
  LIMIT_EXCEEDED: {
    severity: 'error',
    title: 'The file, or an element in it, is larger than any payment message',
    right: 'Less than the limit in the finding',
    source: own,
  },
  ENCODING_NOT_SUPPORTED: {
    severity: 'error',
    title: 'The file has an encoding that is not read here',
    right: 'UTF-8; ISO-8859-1, ISO-8859-15, Windows-1252 and UTF-16 are read, too',
    source: epcFormats,
  },
  ENCODING_CONTRADICTION: {
    severity: 'error',
    title: 'The bytes are not in the encoding of the XML declaration',
    right: 'The encoding that the XML declaration names',
    source: xml,
  },
  ENCODING_BROKEN: {
    severity: 'error',
    title: 'A text has bytes that are not characters of the encoding',
    right: 'The encoding that the XML declaration names',
    source: xml,
  },
  ENCODING_NOT_UTF8: {
    severity: 'hint',
    title: 'The file is not in UTF-8',
    right: 'UTF-8, unless the bank agreed to another encoding',
    source: epcFormats,
  },
  WRONG_NAMESPACE: {
    severity: 'error',
    title: 'The root element is in no ISO 20022 namespace',
    right: 'Such as `urn:iso:std:iso:20022:tech:xsd:pain.001.001.09`',
    source: iso20022,
  },
  UNSUPPORTED_MESSAGE: {
    severity: 'error',
    title: 'The message is of another type or version',
    right: 'pain.001.001.03, pain.001.001.09, pain.008.001.02 or pain.008.001.08',
    source: own,
  },
  WRONG_ROOT: {
    severity: 'error',
    title: 'The outer elements are not those of the namespace',
    right: '`Document` with `CstmrCdtTrfInitn` (pain.001) or `CstmrDrctDbtInitn` (pain.008)',
    source: iso20022,
  },
  ELEMENT_OF_OTHER_VERSION: {
    severity: 'error',
    title: 'An element belongs to another version of the message',
    right: 'The element of this version, such as `BICFI` in place of `BIC`',
    source: iso20022,
  },
  MISSING_ELEMENT: {
    severity: 'error',
    title: 'A mandatory element is missing',
    right: 'The element in the finding',
    source: `${iso20022}, ${epcFormats}`,
  },
  EMPTY_ELEMENT: {
    severity: 'error',
    title: 'An element is empty',
    right: 'A text, or no element',
    source: iso20022,
  },
  TEXT_TOO_LONG: {
    severity: 'error',
    title: 'A text is too long',
    right: 'At most 35 characters for identifications and references, 140 for names, 70 for address lines and streets',
    source: `${iso20022}, ${epcFormats}`,
  },
  NAME_OVER_70: {
    severity: 'warning',
    title: 'A name has more than 70 characters',
    right: 'At most 70 characters, so that no bank cuts it off',
    source: epcFormats,
  },
  CHARACTERS_NOT_SEPA: {
    severity: 'warning',
    title: 'A text has characters outside the SEPA set',
    right: "Letters A to Z and a to z, digits, space and `/ - ? : ( ) . , ' +`",
    source: `${epcFormats}, EPC217-08`,
  },
  SLASHES_IN_REFERENCE: {
    severity: 'error',
    title: 'An identification or reference begins or ends with a slash, or has two in a row',
    right: 'Single slashes between other characters',
    source: epcFormats,
  },
  WRONG_CODE: {
    severity: 'error',
    title: 'A code is not one of the allowed codes',
    right: 'One of the codes in the finding',
    source: `${iso20022}, ${epcFormats}`,
  },
  WRONG_NUMBER: {
    severity: 'error',
    title: 'A count or control sum is not a number',
    right: '`NbOfTxs` of 1 to 15 digits; `CtrlSum` with a decimal point, without separators of thousands',
    source: iso20022,
  },
  TRANSACTION_COUNT_MISMATCH: {
    severity: 'error',
    title: 'NbOfTxs is not the number of transactions',
    right: 'The number of transactions in the message, or in the payment',
    source: iso20022,
  },
  CONTROL_SUM_MISMATCH: {
    severity: 'error',
    title: 'CtrlSum is not the sum of the amounts',
    right: 'The sum of all amounts in the message, or in the payment, of all currencies',
    source: iso20022,
  },
  CONTROL_SUM_MISSING: {
    severity: 'hint',
    title: 'The message has no control sum',
    right: '`CtrlSum` in the group header, which shows the bank that nothing was lost',
    source: epcFormats,
  },
  DUPLICATE_MESSAGE_ID: {
    severity: 'error',
    title: 'MsgId is that of a message that was checked before',
    right: 'An identification of its own for each message: banks refuse the second one',
    source: iso20022,
  },
  DUPLICATE_PAYMENT_ID: {
    severity: 'error',
    title: 'PmtInfId is that of an earlier payment of the message',
    right: 'An identification of its own for each payment',
    source: iso20022,
  },
  DUPLICATE_END_TO_END_ID: {
    severity: 'hint',
    title: 'EndToEndId is that of an earlier transaction of the message',
    right: 'An identification of its own, so that a return can be assigned; `NOTPROVIDED` if there is none',
    source: epcFormats,
  },
  DUPLICATE_PAYMENT: {
    severity: 'warning',
    title: 'A transaction has the IBAN, the amount and the reference of an earlier one',
    right: 'Each transaction once; a reference that differs if it is meant',
    source: own,
  },
  IBAN_NOT_COMPACT: {
    severity: 'error',
    title: 'An IBAN is written with spaces, hyphens or lower case',
    right: 'Capital letters and digits only',
    source: iso13616,
  },
  ILLEGAL_CHARACTERS: {
    severity: 'error',
    title: 'An IBAN has other characters than letters and digits',
    right: 'Capital letters and digits only',
    source: iso13616,
  },
  UNKNOWN_COUNTRY: {
    severity: 'error',
    title: 'An IBAN begins with the code of no country that has IBANs',
    right: 'The code of the country of the bank',
    source: iso13616,
  },
  NOT_REGISTERED: {
    severity: 'error',
    title: 'The country of an IBAN is not in the IBAN registry',
    right: 'An IBAN of a registered country',
    source: iso13616,
  },
  WRONG_LENGTH: {
    severity: 'error',
    title: 'An IBAN is too short or too long for its country',
    right: 'The length in the finding',
    source: iso13616,
  },
  WRONG_STRUCTURE: {
    severity: 'error',
    title: 'An IBAN has letters or digits where its country has others',
    right: 'The format in the finding',
    source: iso13616,
  },
  CHECK_DIGITS_OUT_OF_RANGE: {
    severity: 'error',
    title: 'The check digits of an IBAN are 00, 01 or 99',
    right: 'Check digits from 02 to 98',
    source: `${iso13616}, ISO/IEC 7064`,
  },
  WRONG_CHECK_DIGITS: {
    severity: 'error',
    title: 'The check digits of an IBAN do not match',
    right: 'The IBAN as the account holder has it',
    source: `${iso13616}, ISO/IEC 7064`,
  },
  NATIONAL_CHECK_FAILED: {
    severity: 'hint',
    title: 'The national check digits in an IBAN do not match',
    right: 'The IBAN as the account holder has it; a few banks have exemptions',
    source: 'National banking associations',
  },
  IBAN_OUTSIDE_SEPA: {
    severity: 'error',
    title: 'An IBAN in a SEPA payment is of a country outside SEPA',
    right: 'An IBAN of a SEPA country, or a payment that is not SEPA',
    source: 'EPC409-09',
  },
  REJECTED_BY_SERVICE: {
    severity: 'error',
    title: 'The bank-data service does not accept an IBAN',
    right: 'The IBAN as the account holder has it',
    source: 'The bank-data service',
  },
  SERVICE_FAILED: {
    severity: 'error',
    title: 'The bank-data service failed for an IBAN; reported once for each IBAN',
    right: 'Check the message again when the service answers',
    source: own,
  },
  NOT_CHECKED: {
    severity: 'error',
    title: 'The bank-data service was not asked about an IBAN; reported once for each IBAN',
    right: 'Check the message again with more calls',
    source: own,
  },
  BIC_ILLEGAL_CHARACTERS: {
    severity: 'error',
    title: 'A BIC has other characters than capital letters and digits',
    right: 'Capital letters and digits only; or no BIC: a SEPA payment needs none',
    source: 'ISO 9362, Regulation (EU) No 260/2012',
  },
  BIC_WRONG_LENGTH: {
    severity: 'error',
    title: 'A BIC is too short or too long',
    right: '8 or 11 characters, or no BIC',
    source: 'ISO 9362',
  },
  BIC_UNKNOWN_COUNTRY: {
    severity: 'error',
    title: 'The fifth and sixth character of a BIC are no country',
    right: 'A country code of ISO 3166-1, or no BIC',
    source: 'ISO 9362',
  },
  BIC_NOT_PROVIDED: {
    severity: 'error',
    title: 'A BIC is the word NOTPROVIDED',
    right: 'No BIC, or `Othr/Id` with `NOTPROVIDED`',
    source: epcFormats,
  },
  BIC_FOR_TESTS: {
    severity: 'warning',
    title: 'A BIC is for tests only',
    right: 'The BIC that the bank uses for payments: its location code does not end with 0',
    source: 'ISO 9362',
  },
  BIC_OF_OTHER_BANK: {
    severity: 'hint',
    title: 'A BIC is that of another bank than the IBAN',
    right: 'A BIC of the bank of the IBAN, or no BIC',
    source: own,
  },
  COUNTRY_INVALID: {
    severity: 'error',
    title: 'A country is not a country code',
    right: 'Two capital letters of ISO 3166-1, such as DE',
    source: `${iso20022}, ISO 3166-1`,
  },
  ADDRESS_UNSTRUCTURED: {
    severity: 'error',
    title: 'An address has only lines',
    right: 'At least `TwnNm` and `Ctry`; unstructured addresses are refused since 15 November 2026',
    source: addresses,
  },
  ADDRESS_WITHOUT_TOWN: {
    severity: 'error',
    title: 'An address has no town',
    right: '`TwnNm`, or no address',
    source: addresses,
  },
  ADDRESS_WITHOUT_COUNTRY: {
    severity: 'error',
    title: 'An address has no country',
    right: '`Ctry`, or no address',
    source: addresses,
  },
  ADDRESS_LINES: {
    severity: 'error',
    title: 'An address has more than two lines beside its elements',
    right: '`TwnNm`, `Ctry` and at most two `AdrLine` of 70 characters',
    source: addresses,
  },
  CURRENCY_INVALID: {
    severity: 'error',
    title: 'The currency of an amount is missing, or not a currency code',
    right: 'The attribute `Ccy` with three capital letters of ISO 4217',
    source: `${iso20022}, ISO 4217`,
  },
  CURRENCY_NOT_EUR: {
    severity: 'error',
    title: 'A SEPA payment is not in euros',
    right: '`Ccy="EUR"`, or a payment that is not SEPA',
    source: epcFormats,
  },
  AMOUNT_FORMAT: {
    severity: 'error',
    title: 'An amount is not a positive number with at most two decimals',
    right: 'Digits with a decimal point, such as 1234.56',
    source: `${iso20022}, ${epcFormats}`,
  },
  AMOUNT_OUT_OF_RANGE: {
    severity: 'error',
    title: 'An amount is out of range',
    right: '0.01 to 999,999,999.99',
    source: epcFormats,
  },
  DATE_FORMAT: {
    severity: 'error',
    title: 'A date or time is not one of the calendar, or has another format',
    right: 'ISO 8601, such as 2026-11-30, or 2026-11-30T09:30:00',
    source: iso20022,
  },
  EXECUTION_DATE_PAST: {
    severity: 'warning',
    title: 'The requested execution or collection date is past',
    right: 'Today or later; banks refuse the payment, or execute it on another day',
    source: epcFormats,
  },
  EXECUTION_DATE_NO_BUSINESS_DAY: {
    severity: 'hint',
    title: 'TARGET is closed on the requested execution or collection date; not for instant payments',
    right: 'Another day than a weekend, New Year, Good Friday, Easter Monday, 1 May, 25 or 26 December',
    source: 'Calendar of TARGET',
  },
  SIGNATURE_DATE_IN_FUTURE: {
    severity: 'warning',
    title: 'A mandate is signed after today',
    right: 'The day on which the debtor signed the mandate',
    source: sdd,
  },
  CREDITOR_ID_INVALID: {
    severity: 'error',
    title: 'The creditor identifier is not valid',
    right: 'A country code, two check digits, three characters of the creditor, and the national identifier',
    source: 'EPC262-08, ISO/IEC 7064',
  },
  CHARGE_BEARER_NOT_SLEV: {
    severity: 'error',
    title: 'The charges of a SEPA payment are not shared',
    right: '`SLEV`, or no `ChrgBr`',
    source: epcFormats,
  },
  REMITTANCE_TOO_LONG: {
    severity: 'error',
    title: 'The remittance information is longer than 140 characters',
    right: 'At most 140 characters in all',
    source: epcFormats,
  },
  REMITTANCE_REPEATED: {
    severity: 'warning',
    title: 'The remittance information is given more than once',
    right: 'One `Ustrd` or one `Strd`',
    source: epcFormats,
  },
} as const satisfies Record<string, Rule>;

export type RuleCode = keyof typeof rules;

/** @param message never contains a whole IBAN, unlike the suggestion */
export function createFinding(
  code: RuleCode,
  place: Place,
  message: string,
  suggestion: string | null = null,
): Finding {
  return { code, severity: rules[code].severity, place, message, suggestion };
}
