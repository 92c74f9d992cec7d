import type { rules, tableRules } from '../src/check/finding.ts';
import type { RowStatus } from '../src/check/judge-row.ts';
import type { messageLimits } from '../src/check/pain/read-message.ts';
import type { BicMatch } from '../src/iban/bic.ts';
import type { CheckResult } from '../src/iban/german-account-checks.ts';

/* The texts of tables about checks: what each rule finds and what would be right, its sources and limits, and the words of results. */

export const ruleTexts: Record<keyof typeof rules, readonly [found: string, right: string]> = {
  NOT_XML: ['Not XML, or an empty file', 'A message in XML'],
  NOT_WELL_FORMED: ['A syntax error of XML', 'Well-formed XML'],
  TRUNCATED: ['The file ends early', 'All of it, down to `</Document>`'],
  DOCTYPE_REFUSED: ['A document type declaration', 'Without `<!DOCTYPE`'],
  LIMIT_EXCEEDED: ['Larger than any payment message', 'The limit in the finding'],
  ENCODING_NOT_SUPPORTED: ['An encoding that is not read', 'UTF-8, UTF-16, ISO-8859-1, ISO-8859-15 or Windows-1252'],
  ENCODING_CONTRADICTION: ['Bytes of another encoding than declared', 'The declared encoding'],
  ENCODING_BROKEN: ['Bytes that are not characters of the encoding', 'The declared encoding'],
  ENCODING_NOT_UTF8: ['Another encoding than UTF-8', 'UTF-8, unless the bank agreed to another'],
  WRONG_NAMESPACE: ['Another namespace than of ISO 20022', '`urn:iso:std:iso:20022:tech:xsd:pain.001.001.09`'],
  UNSUPPORTED_MESSAGE: ['Another type or version of message', 'One of the [versions](#payment-messages)'],
  WRONG_ROOT: [
    'Outer elements do not fit the namespace',
    '`CstmrCdtTrfInitn` (pain.001) or `CstmrDrctDbtInitn` (pain.008) in `Document`',
  ],
  ELEMENT_OF_OTHER_VERSION: ['An element of another version', 'That of this version, such as `BICFI` for `BIC`'],
  ELEMENT_NOT_EXPECTED: [
    'An element that the message definition does not have there, or a second of a choice',
    'Those in the finding',
  ],
  ELEMENT_ORDER: ['An element is behind one that must follow it', 'The order in the finding'],
  ELEMENT_REPEATED: [
    'An element is given too often, or `PmtTpInf` in the payment and its transaction',
    'The number in the finding',
  ],
  ATTRIBUTE_NOT_EXPECTED: [
    'An attribute that the message definition does not have',
    'Without it; only amounts have `Ccy`',
  ],
  TEXT_NOT_EXPECTED: ['Text between elements', 'Without it'],
  VERSION_ENDS: [
    'The banks of the account cease to accept the version of the message, after the day of the payment',
    'The version of 2019 (pain.001.001.09, pain.008.001.08): the banking program may write it, and `--renovate` writes a copy in it',
  ],
  VERSION_ENDED: [
    'The banks of the account do not accept the version of the message any more, on the day of the payment',
    'The version of 2019 (pain.001.001.09, pain.008.001.08): the banking program may write it, and `--renovate` writes a copy in it',
  ],
  RULES_NOT_CHECKED: [
    'Payments outside SEPA of a bank that is not German or Swiss, once a file: only compared with ISO 20022',
    'As their bank says; `--profile iso` does not say so',
  ],
  SERVICE_LEVEL_UNKNOWN: [
    'A service level that is not in the list of ISO 20022',
    'A code such as SEPA; the payment is judged by what is meant, or by its currency and accounts',
  ],
  MISSING_ELEMENT: ['A mandatory element is missing', 'The element in the finding'],
  EMPTY_ELEMENT: ['An element is empty', 'A text, or without the element'],
  WRONG_VALUE: ['A text that its type does not allow', 'The type in the finding, such as one of its codes, or a date'],
  TEXT_TOO_LONG: ['A text is too long', 'At most as many characters as in the finding'],
  NAME_OVER_70: ['A name of over 70 characters', 'At most 70, so that no bank cuts it off'],
  CHARACTERS_NOT_SEPA: ['Characters outside the SEPA set', "Letters A to Z and a to z, digits, space, `/-?:().,'+`"],
  CHARACTERS_CONVERTED: [
    'Letters and signs such as ä and &, once a file; German banks',
    'The replacement that you want',
  ],
  CHARACTERS_NOT_SWISS: [
    'Characters outside the Swiss set; Swiss banks',
    'Latin letters of Europe, and what ASCII has',
  ],
  SLASHES_IN_REFERENCE: ['A reference begins or ends with a slash, or has two in a row', 'Single slashes inside'],
  WRONG_CODE: ['A code that is not allowed', 'One of those in the finding'],
  WRONG_NUMBER: ['A count or sum is not a number', '`NbOfTxs` of 1 to 15 digits; `CtrlSum` with a decimal point'],
  TRANSACTION_COUNT_MISMATCH: ['NbOfTxs is wrong, or a transaction is missing', 'The number of transactions'],
  CONTROL_SUM_MISMATCH: [
    'CtrlSum is wrong, or an amount is wrong or missing',
    'The sum of all amounts, of all currencies',
  ],
  CONTROL_SUM_MISSING: ['The message has no control sum', '`CtrlSum` in the group header'],
  DUPLICATE_MESSAGE_ID: ['MsgId of an earlier message', 'One for each message: banks refuse the second'],
  DUPLICATE_PAYMENT_ID: ['PmtInfId of an earlier payment', 'One for each payment'],
  DUPLICATE_END_TO_END_ID: ['EndToEndId of an earlier transaction', 'One for each, for returns; or `NOTPROVIDED`'],
  DUPLICATE_UETR: ['UETR of an earlier transaction', 'A new one for each'],
  DUPLICATE_PAYMENT: ['The IBAN, amount and reference of an earlier transaction', 'Each once, or another reference'],
  NAMES_DIFFER: ['The IBAN of an earlier payee, with another name', 'The IBAN of this payee, or the same name'],
  IBAN_NOT_COMPACT: ['An IBAN with spaces, hyphens or lower case', 'Capitals and digits'],
  EMPTY: ['An IBAN of spaces or hyphens only', 'The IBAN of the account holder'],
  ILLEGAL_CHARACTERS: ['An IBAN with other characters', 'Capitals and digits'],
  UNKNOWN_COUNTRY: [
    'The first two characters of the IBAN are not a country that has IBANs; they may be missing',
    'Those of the country of the bank, such as DE or FR; the payee knows the whole IBAN',
  ],
  NOT_REGISTERED: ['A country outside the IBAN registry', 'A registered country'],
  TOO_SHORT: [
    'An IBAN with fewer characters than its country has: some were lost, such as zeros or the end',
    'The length in the finding, such as 22 for DE; ask the payee for the IBAN: to add a zero would be a guess',
  ],
  TOO_LONG: [
    'An IBAN with more characters than its country has: one is twice, or another text is behind it',
    'The length in the finding, such as 22 for DE; ask the payee for the IBAN',
  ],
  WRONG_STRUCTURE: [
    'A letter where the IBANs of the country have a digit, or the reverse, such as O for 0 or I for 1',
    'The format in the finding, such as DE and 20 digits; ask the payee for the IBAN',
  ],
  CHECK_DIGITS_OUT_OF_RANGE: ['Check digits 00, 01 or 99', 'Check digits 02 to 98'],
  WRONG_CHECK_DIGITS: [
    'The third and fourth character of an IBAN are calculated from all others, and do not match them: at least one is mistyped',
    'The IBAN that the payee confirms; a suggestion differs by one typing error, and is a guess',
  ],
  NATIONAL_CHECK_FAILED: [
    'National check digits do not match',
    'The IBAN of the account holder; a few banks have exemptions',
  ],
  IBAN_BANK_UNKNOWN: [
    'A bank code, in an IBAN or `MmbId`, that a complete and current [list of banks](bank-directories.md) does not have',
    'The IBAN of the account holder; or import the present list',
  ],
  IBAN_OUTSIDE_SEPA: ['A SEPA payment to a country outside SEPA', 'A SEPA country, or another payment'],
  REJECTED_BY_SERVICE: ['The bank-data service rejects the IBAN', 'The IBAN of the account holder'],
  SERVICE_FAILED: ['The service failed for an IBAN (once each)', 'Check again later'],
  NOT_CHECKED: ['The service was not asked about an IBAN (once each)', 'Check again with more calls'],
  BIC_ILLEGAL_CHARACTERS: ['A BIC with other characters', 'Capitals and digits, or without a BIC'],
  BIC_WRONG_LENGTH: ['A BIC of the wrong length', '8 or 11 characters, or without a BIC'],
  BIC_UNKNOWN_COUNTRY: ['The fifth and sixth character are not a country', 'A country of ISO 3166-1'],
  BIC_NOT_PROVIDED: ['The BIC NOTPROVIDED', 'A BIC, or `Othr/Id` with `NOTPROVIDED`; for a payee, without `CdtrAgt`'],
  BIC_FOR_TESTS: ['A BIC for tests', 'A location code that does not end with 0'],
  INSTITUTION_EMPTY: [
    'A bank without a BIC and without `Othr`, also with a name',
    'A BIC, or `Othr/Id` with `NOTPROVIDED`; for a payee, without `CdtrAgt`',
  ],
  INSTITUTION_MISSING: [
    'A bank without a BIC and without `Othr`; German banks',
    'A BIC, or `Othr/Id` with `NOTPROVIDED`; for a payee, without `CdtrAgt`',
  ],
  INSTITUTION_OTHER: [
    'A bank with an `Othr/Id` other than `NOTPROVIDED`, and without a BIC',
    'A BIC, or `Othr/Id` with `NOTPROVIDED`; for a payee, without `CdtrAgt`',
  ],
  PAYEE_BANK_OTHER: [
    'The bank of the payee has `Othr` in a credit transfer; German banks',
    'A BIC, or without `CdtrAgt`',
  ],
  AGENT_MISSING: [
    'A transfer outside SEPA without the bank of the payee, to an account number or, from a Swiss bank, an IBAN of another country',
    'The BIC in `CdtrAgt`, or a clearing number, or name and address',
  ],
  POSTAL_ACCOUNT: ['A Swiss postal account in place of an IBAN', 'The IBAN or QR-IBAN of the payee'],
  PAYMENT_SLIP_ENDED: [
    'The local instrument CH01, CH02 or CH03 of payment slips, which ended on 30 September 2022',
    'A QR-bill or an IBAN, without `LclInstrm`',
  ],
  NOT_IN_SCHEME: [
    'The bank of the other party does not take part in the scheme, by an [imported register](check-files.md)',
    'Another scheme, or another account',
  ],
  VERIFICATION_NOT_OFFERED: [
    'The bank of the payee does not take part in Verification of Payee, by an [imported register](check-files.md)',
    'Compare the name with the invoice',
  ],
  PAYEE_VERIFICATION: [
    'A file with one payment of a bank in the euro area (in the EU from 9 July 2027), for which Verification of Payee is always made',
    'The name of the account holder',
  ],
  REPORT_OF_OTHER_MESSAGE: ['A status report about another message', 'The report with the `OrgnlMsgId` of this one'],
  REPORT_NOT_MATCHED: [
    'Accepted payments or transactions of the report are not in the message',
    'The message that was sent',
  ],
  BANK_REJECTED: [
    'The bank has rejected the message, a payment or a transaction (RJCT, CANC)',
    'The reason in the finding',
  ],
  BANK_ATTENTION: [
    'Accepted in part or with a change, blocked, or not all names are right (PART, ACWC, BLCK, RVCM)',
    'As the bank says',
  ],
  BANK_PENDING: ['The bank has not decided yet, or waits for signatures (PDNG, RCVD, PATC, ACWP)', 'A later report'],
  BANK_STATUS_UNKNOWN: ['A status that ISO 20022 does not have, or none', 'A status in capitals, such as RJCT'],
  PAYEE_NAME_DIFFERS: ['The name is not that of the account holder (RVNM)', 'The name as the payee writes it'],
  PAYEE_NAME_SIMILAR: [
    'The name is almost that of the account holder (RVMC)',
    'The name in the suggestion, if the bank says it',
  ],
  PAYEE_NOT_VERIFIED: ['The name could not be compared (RVNA, RVNC)', 'The name as the payee writes it'],
  BIC_OF_OTHER_BANK: ['A BIC of another bank than the IBAN', 'A BIC of that bank, or without'],
  COUNTRY_INVALID: ['A wrong country code', 'Two capitals, such as DE'],
  ADDRESS_REQUIRED: [
    'The payer of a SEPA payment from or to an account outside the EEA has no address',
    '`PstlAdr` with `TwnNm` and `Ctry`',
  ],
  ADDRESS_MISSING: [
    'A transfer to another country, or in a foreign currency, without an address of the payee',
    '`PstlAdr` with `TwnNm` and `Ctry`',
  ],
  ADDRESS_UNSTRUCTURED: ['An address of lines only', '`TwnNm` and `Ctry`: required since 15 November 2026'],
  ADDRESS_WITHOUT_TOWN: ['An address without a town', '`TwnNm`, or without an address'],
  ADDRESS_WITHOUT_COUNTRY: ['An address without a country', '`Ctry`, or without an address'],
  ADDRESS_LINES: ['Over two lines beside the elements', 'At most two `AdrLine` of 70 characters'],
  ADDRESS_HYBRID: [
    'Lines beside the elements of an address (hybrid), once a file: allowed, but each bank decides whether it offers that',
    '`StrtNm` and `BldgNb`, or as the bank says',
  ],
  CURRENCY_INVALID: [
    'A missing, wrong or ended currency, such as HRK, BGN or ANG',
    '`Ccy` with three capitals of a present currency',
  ],
  CURRENCY_NOT_EUR: [
    'A SEPA payment in another currency',
    'A foreign payment, without the service level SEPA; or the amount in euros',
  ],
  AMOUNT_FORMAT: ['Not a positive number, or more decimals than the currency has', 'Such as 1234.56; 1234 in JPY'],
  AMOUNT_OUT_OF_RANGE: ['An amount is out of range', '0.01 to 999,999,999.99'],
  DATE_FORMAT: ['A date that is wrong or in another format', '2026-11-30, or 2026-11-30T09:30:00'],
  EXECUTION_DATE_PAST: ['The requested date is past', 'Today or later'],
  EXECUTION_DATE_FAR: ['The requested date is over 180 days ahead', 'The year that is meant'],
  COLLECTION_DATE_SOON: [
    'A collection on the next business day or earlier: debits must reach the other bank one business day before',
    'A later day, unless the bank accepts them now',
  ],
  EXECUTION_DATE_NO_BUSINESS_DAY: [
    'TARGET is closed on the requested date; not for instant payments',
    'Not a weekend, New Year, Good Friday, Easter Monday, 1 May, 25 or 26 December',
  ],
  SIGNATURE_DATE_IN_FUTURE: ['A mandate is signed after today', 'The day of the signature'],
  CREDITOR_ID_INVALID: [
    'A wrong creditor identifier',
    'Country, two check digits, three characters, national identifier',
  ],
  AMENDMENT_MISSING: ['An `AmdmntInd` without what was amended', '`AmdmntInfDtls`, or without `AmdmntInd`'],
  AMENDMENT_NOT_INDICATED: ['What was amended without `AmdmntInd`', '`AmdmntInd` with `true`'],
  CHARGE_BEARER_NOT_SLEV: ['Charges of a SEPA payment are not shared', '`SLEV`, or without `ChrgBr`'],
  REMITTANCE_TOO_LONG: ['Remittance information of over 140 characters', 'At most 140 in all'],
  REFERENCE_NOT_COMPACT: ['An RF or QR reference with spaces or small letters', 'Capitals and digits'],
  REFERENCE_CHECK_DIGITS: [
    'Check digits of an RF, QR or Belgian reference do not match',
    'The reference of the invoice',
  ],
  LEI_CHECK_DIGITS: ['Check digits of an LEI do not match', 'The LEI of the organisation'],
  QR_IBAN: ['A QR-IBAN pays, or receives another currency than CHF and EUR', 'The other IBAN of the account'],
  QR_REFERENCE: ['A QR-IBAN without a QR reference, or the reverse', 'Both, or none of them'],
  EXTERNAL_CODE_UNKNOWN: [
    'A local instrument or category purpose that is not in the list of ISO 20022 (as of 2025)',
    'A code such as INST or SUPP',
  ],
  CODE_REQUIRED: [
    'A `Prtry` in the purpose of a SEPA payment, or the local instrument of a direct debit',
    'A code in `Cd`',
  ],
  PURPOSE_FORMAT: ['A purpose that is not in the list of ISO 20022 (as of 2025)', 'A code such as SALA'],
  REMITTANCE_REPEATED: ['Remittance information is repeated', 'One `Ustrd` or one `Strd`'],
};

/** What only tables can have. */
export const tableTexts: Record<keyof typeof tableRules, readonly [found: string, right: string]> = {
  NUMBER_SHORTENED: [
    'A spreadsheet has replaced digits by a power of ten, such as 3.7E+20: they are not in the file',
    'The column as text, and the IBANs pasted again',
  ],
  IBAN_MISSING: ['No column of the row has an IBAN, but that of the payer', 'The IBAN of the payee'],
  IBAN_NOT_CHECKED: [
    'An IBAN in a column or sheet that is not checked, or a further one in a cell',
    'One IBAN in a cell, in a column with a title such as IBAN, or named with `--column`',
  ],
  ROW_TOO_LONG: [
    'A row with more cells than the table has columns: the IBAN may be in another column',
    'A quoted cell, if it has a delimiter in it',
  ],
};

type ResultTexts<Word extends string> = Record<Word, readonly [meaning: string, remedy: string]>;

/** The words in the columns that a result adds to a table. */
export const resultTexts: {
  status: ResultTexts<RowStatus>;
  bic_match: ResultTexts<BicMatch>;
  national_check: ResultTexts<CheckResult>;
} = {
  status: {
    VALID: [
      'the IBAN is right in form, and the bank data service knows nothing against it',
      'nothing. It does not mean that the account exists, or belongs to the payee',
    ],
    INVALID: ['the IBAN is wrong, or its country has no official IBANs', 'look at the `suggestion`, and ask the payee'],
    EMPTY: ['the row has no IBAN', 'add it'],
    NOT_CHECKED: [
      'the form is right, but the service was not asked',
      'check the file again later, or ask your colleagues for more calls',
    ],
    FAILED: ['the service did not answer', 'check the file again later: what is known by then costs nothing'],
  },
  bic_match: {
    SAME_BANK: ['the BIC is of the bank of the IBAN', 'nothing'],
    OTHER_BANK: [
      'the BIC is of another bank than the IBAN, which decides where the money goes',
      'ask the payee which is right; a BIC may be left out in SEPA',
    ],
    UNKNOWN: ['the BIC could not be compared with the IBAN', 'nothing, if `problems` is empty'],
  },
  national_check: {
    PASSED: ['the check digits within the account number match', 'nothing'],
    FAILED: ['the check digits within the account number do not match; some banks have exceptions', 'ask the payee'],
    NOT_APPLICABLE: ['the country or bank has none that are known', 'nothing'],
  },
};

/** The documents that are the reason of the rules. A row may have several. */
export const sourceTexts: readonly (readonly [names: string, document: string])[] = [
  ['ISO 20022', 'Message definitions of Payments Initiation'],
  ['EPC132-08', 'European Payments Council: SEPA Credit Transfer, customer-to-PSP guidelines'],
  ['EPC130-08, EPC131-08', 'SEPA Direct Debit Core and B2B, customer-to-PSP guidelines'],
  ['EPC016-06, EPC222-07', 'SEPA Direct Debit Core and B2B, rulebooks'],
  ['EPC153-22', 'Addresses under the EPC schemes, version 2.1'],
  [
    'CBPR+',
    'Swift: Cross-Border Payments and Reporting Plus; towns and countries of all parties from 14 November 2026',
  ],
  ['DFÜ agreement', 'German banks: annex 3, data formats, version 26.11, also of foreign and urgent payments'],
  ['Swiss Payment Standards', 'SIX: business rules and implementation guidelines for credit transfers, 2025'],
  ['Betaalvereniging', 'Dutch payments association: support for hybrid addresses varies by bank'],
  ['The report of the bank', 'Status report (pain.002), given with `--report`'],
  ['Registers of the EPC', 'European Payments Council: registers of participants'],
  ['Regulation (EU) 2024/886', 'Verification of Payee'],
  ['Regulation (EU) 2023/1113', 'Information on the payer'],
  ['ISO 17442', 'LEIs'],
  ['ISO 11649, Febelfin', 'Creditor references; Belgian structured communications'],
  ['EPC217-08', 'SEPA extended character set: table of conversion'],
  ['EPC262-08', 'Creditor identifiers'],
  ['EPC409-09', 'SEPA countries'],
  ['Regulation (EU) No 260/2012', 'A BIC is not required'],
  ['Calendar of TARGET', 'European Central Bank: closing days'],
  [
    'ISO 13616, ISO 9362, ISO 3166-1, ISO 4217, ISO/IEC 7064',
    'IBANs (SWIFT registry), BICs, countries, currencies, check digits',
  ],
  ['XML 1.0', 'World Wide Web Consortium'],
  ['National lists of banks', '[Lists](bank-directories.md) in the package, or imported'],
  ['National banking associations', 'National check digits, as in [`nationalCheck`](../schema.graphql)'],
];

export const limitTexts: Record<keyof typeof messageLimits, string> = {
  depth: 'levels of elements',
  attributes: 'attributes of an element',
  nameLength: 'characters of a tag name',
  tokenLength: 'characters of a tag, a comment or a text between two tags',
  partElements: 'elements of a header or a transaction',
  partCharacters: 'characters of a header or a transaction',
};
