import { compactBic, describeBicProblem, findBicProblems, parseBic } from '../../iban/bic.ts';
import { countryCodes } from '../../iban/country-codes.ts';
import {
  compactIban,
  describeIbanProblem,
  findIbanProblems,
  isValidIban,
  maskIban,
  parseIban,
} from '../../iban/iban.ts';
import { findCountryFormat } from '../../iban/registry.ts';
import { suggestIbans } from '../../iban/suggest-ibans.ts';
import type { Answers } from '../answers/answers.ts';
import { type BankFacts, checkNationally } from '../bank-facts.ts';
import { type FingerprintMap, fingerprintOf } from '../fingerprints.ts';
import { find, findAll, textOf, visitElements, type XmlElement } from './elements.ts';
import type { MessageFindings } from './findings.ts';
import type { MessageVersion } from './message-versions.ts';
import { countCharacters } from './schema.ts';
import { findCharactersOutsideSepa, toSepaCharacters } from './sepa-characters.ts';
import { parseDate, parseDateTime } from './values.ts';

interface ElementChecks {
  findings: MessageFindings;
  version: MessageVersion;
  /** Whether the payment says that it is SEPA. */
  isSepa: boolean;
  /** The different IBANs of the message, to which those of the part are added. */
  ibans: FingerprintMap;
  answers: Pick<Answers, 'find'>;
  banks: BankFacts;
}

/** Checks each element below, by its name, wherever it is. */
export function checkElements(part: XmlElement, checks: ElementChecks): void {
  const { findings } = checks;
  visitElements(part, (element) => {
    if (element.text.includes('\uFFFD')) {
      const message =
        'The text has bytes that are not characters of the encoding. Declare the encoding in which the file was saved.';
      findings.add('ENCODING_BROKEN', element, message);
    } else if (element.name !== 'PstlAdr' && element.children.length === 0 && element.text.trim() === '') {
      if (neverEmpty.has(element.name)) {
        findings.add('EMPTY_ELEMENT', element, `${element.name} is empty. Fill it in, or leave it out.`);
      }
    } else checkElement(element);
  });

  function checkElement(element: XmlElement): void {
    switch (element.name) {
      case 'IBAN':
        checkIban(element, checks);
        break;
      case 'BIC':
      case 'BICFI':
      case 'AnyBIC':
      case 'BICOrBEI':
        checkBic(element, findings);
        break;
      case 'PstlAdr':
        checkAddress(element, findings);
        break;
      case 'Ctry':
      case 'CtryOfRes':
      case 'CtryOfBirth':
        checkCountry(element, findings);
        break;
      case 'RmtInf':
        checkRemittance(element, findings);
        break;
      case 'CreDtTm':
        checkDateTime(element, findings);
        break;
      // These are checked with the part that they belong to.
      case 'InstdAmt':
      case 'NbOfTxs':
      case 'CtrlSum':
      case 'ReqdColltnDt':
      case 'DtOfSgntr':
      case 'ReqdExctnDt':
      // These are not transferred.
      case 'ElctrncAdr':
      case 'ElctrncSgntr':
      case 'EmailAdr':
      case 'RmtLctnElctrncAdr':
      case 'URLAdr':
        break;
      default:
        if (element.children.length === 0) checkText(element, findings);
    }
  }
}

function checkIban(element: XmlElement, { findings, isSepa, ibans, answers, banks }: ElementChecks): void {
  const iban = compactIban(element.text);
  const masked = printMasked(iban);
  if (iban !== element.text) {
    const message = `The IBAN ${masked} is written with spaces, hyphens or lower case. Write only capital letters and digits.`;
    findings.add('IBAN_NOT_COMPACT', element, message, isValidIban(iban) ? iban : null);
  }
  const [problem] = findIbanProblems(iban);
  if (problem !== undefined) {
    const message = `The IBAN ${masked} is not valid. ${describeIbanProblem(problem, iban)}`;
    findings.add(problem, element, message, () => suggestIban(iban, banks));
    return;
  }
  if (checkNationally(iban, banks) === 'FAILED') {
    const message = `The national check digits of the IBAN ${masked} do not match. Ask the account holder for the IBAN.`;
    findings.add('NATIONAL_CHECK_FAILED', element, message);
  }
  const country = iban.slice(0, 2);
  if (isSepa && findCountryFormat(country)?.sepa === false) {
    const message = `${country}, the country of the IBAN ${masked}, is not in SEPA, but the payment is.`;
    findings.add('IBAN_OUTSIDE_SEPA', element, message);
  }
  const fingerprint = fingerprintOf(iban);
  const isFirst = ibans.get(fingerprint) === null;
  if (isFirst) ibans.set(fingerprint, element.line);
  findings.addAnswered(element, { iban, answer: answers.find(iban) }, (answer) => {
    if (answer.kind === 'answered') {
      const message = `The bank-data service does not accept the IBAN ${masked}. Ask the account holder for the IBAN.`;
      return answer.valid ? null : { code: 'REJECTED_BY_SERVICE', message };
    }
    if (!isFirst) return null;
    const text = `The IBAN ${masked} is well-formed, but the service`;
    return answer.kind === 'failed'
      ? { code: 'SERVICE_FAILED', message: `${text} failed (${answer.code}). Check it again later.` }
      : { code: 'NOT_CHECKED', message: `${text} was not asked: ${answer.reason}.` };
  });
}

/** IBANs have at most 34 characters. */
function printMasked(iban: string): string {
  return iban.length <= 40 ? maskIban(iban) : `of ${iban.length} characters`;
}

/** The only valid IBAN one typing error away or, if there are several, the only one of a bank that is known. */
function suggestIban(iban: string, banks: BankFacts): string | null {
  const candidates = suggestIbans(iban, { isKnownBank: banks.has });
  const known = candidates.filter((candidate) => {
    const parts = parseIban(candidate);
    return parts !== null && banks.has(parts.countryCode, parts.bankCode);
  });
  const [one = null, ...others] = candidates.length > 1 ? known : candidates;
  return others.length === 0 ? one : null;
}

function checkBic(element: XmlElement, findings: MessageFindings): void {
  const { text } = element;
  const [problem] = findBicProblems(text);
  if (text.trim() === 'NOTPROVIDED') {
    const message = 'NOTPROVIDED is not a BIC. Leave the BIC out, or write Othr/Id with NOTPROVIDED in its place.';
    findings.add('BIC_NOT_PROVIDED', element, message);
  } else if (problem !== undefined) {
    const compact = compactBic(text);
    const suggestion = compact !== text && findBicProblems(compact).length === 0 ? compact : null;
    findings.add(`BIC_${problem}`, element, describeBicProblem(problem, text), suggestion);
  } else if (parseBic(text)?.isTest) {
    const message =
      'The BIC is for tests: its location code ends with 0. Write the BIC that the bank uses for payments.';
    findings.add('BIC_FOR_TESTS', element, message);
  }
}

function checkAddress(address: XmlElement, findings: MessageFindings): void {
  const lines = findAll(address, 'AdrLine');
  const hasTown = textOf(find(address, 'TwnNm')) !== null;
  const hasCountry = textOf(find(address, 'Ctry')) !== null;
  if (lines.length > 0 && lines.length === address.children.filter(({ name }) => name !== 'AdrTp').length) {
    const message =
      'The address has only lines, which is refused since 15 November 2026. Add TwnNm and Ctry, with at most two AdrLine.';
    findings.add('ADDRESS_UNSTRUCTURED', address, message);
    return;
  }
  if (!hasTown)
    findings.add('ADDRESS_WITHOUT_TOWN', address, 'The address has no town. Add TwnNm, or leave the address out.');
  if (!hasCountry) {
    findings.add('ADDRESS_WITHOUT_COUNTRY', address, 'The address has no country. Add Ctry, or leave the address out.');
  }
  const third = lines[2];
  if (third)
    findings.add(
      'ADDRESS_LINES',
      third,
      `The address has ${lines.length} AdrLine beside its elements. At most two are allowed.`,
    );
}

function checkCountry(element: XmlElement, findings: MessageFindings): void {
  const code = textOf(element);
  if (code === null || countryCodes.has(code)) return;
  const capitals = code.toUpperCase();
  const suggestion = countryCodes.has(capitals) ? capitals : null;
  findings.add(
    'COUNTRY_INVALID',
    element,
    'The country must be two capital letters of ISO 3166-1, such as DE.',
    suggestion,
  );
}

function checkRemittance(remittance: XmlElement, findings: MessageFindings): void {
  const texts = findAll(remittance, 'Ustrd');
  const [first, second] = remittance.children;
  const length = texts.reduce((sum, { text }) => sum + countCharacters(text), 0);
  if (first && length > 140) {
    const message = `The remittance information has ${length} characters. At most 140 are transferred.`;
    findings.add('REMITTANCE_TOO_LONG', first, message);
  }
  if (second) {
    const message = `The remittance information is given ${remittance.children.length} times. Give one Ustrd or one Strd.`;
    findings.add('REMITTANCE_REPEATED', second, message);
  }
}

function checkDateTime(element: XmlElement, findings: MessageFindings): void {
  const text = textOf(element);
  if (text !== null && parseDateTime(text) === null) {
    findings.add('DATE_FORMAT', element, `${element.name} must be a date and time such as 2026-11-30T09:30:00.`);
  }
}

/** A date and its calendar day; null if it is missing or has another format, which is a finding. */
export function checkDate(element: XmlElement | null, findings: MessageFindings): string | null {
  const text = textOf(element);
  if (element === null || text === null) return null;
  const day = element.name === 'DtTm' ? parseDateTime(text) : parseDate(text);
  const example = element.name === 'DtTm' ? 'a date and time such as 2026-11-30T09:30:00' : 'a date such as 2026-11-30';
  if (day === null) findings.add('DATE_FORMAT', element, `${element.name} must be ${example}.`);
  return day;
}

/** In characters; where SEPA allows fewer than ISO 20022, those of SEPA. */
const maxLengths: ReadonlyMap<string, number> = new Map([
  ...['MsgId', 'PmtInfId', 'InstrId', 'EndToEndId', 'MndtId', 'OrgnlMndtId', 'Ref'].map((name) => [name, 35] as const),
  ...['TwnNm', 'CtrySubDvsn', 'BldgNm', 'TwnLctnNm', 'DstrctNm'].map((name) => [name, 35] as const),
  ...['BldgNb', 'PstCd', 'PstBx'].map((name) => [name, 16] as const),
  ...['AdrLine', 'StrtNm', 'Dept', 'SubDept', 'Flr', 'Room'].map((name) => [name, 70] as const),
  ['Nm', 140],
  // Its length is checked with the others of the remittance information.
  ['Ustrd', Number.POSITIVE_INFINITY],
]);

const references: ReadonlySet<string> = new Set('MsgId PmtInfId InstrId EndToEndId MndtId OrgnlMndtId'.split(' '));

/** Elements that must have a text where they are; others, such as FinInstnId, may be empty. */
const neverEmpty: ReadonlySet<string> = new Set([
  ...maxLengths.keys(),
  ...['IBAN', 'BIC', 'BICFI', 'AnyBIC', 'BICOrBEI', 'Ctry', 'CreDtTm', 'NbOfTxs', 'CtrlSum', 'PmtMtd', 'InstdAmt'],
  ...['ReqdExctnDt', 'ReqdColltnDt', 'Dt', 'DtTm', 'DtOfSgntr', 'SeqTp', 'Cd', 'Prtry', 'ChrgBr'],
]);

/** Longer texts are refused anyway. */
const maxSuggestionLength = 1000;

function checkText(element: XmlElement, findings: MessageFindings): void {
  const { name, text } = element;
  const maxLength = maxLengths.get(name);
  if (maxLength !== undefined) {
    const length = countCharacters(text);
    if (length > maxLength) {
      findings.add('TEXT_TOO_LONG', element, `${name} has ${length} characters. At most ${maxLength} are allowed.`);
    } else if (name === 'Nm' && length > 70) {
      findings.add(
        'NAME_OVER_70',
        element,
        `The name has ${length} characters. Shorten it to 70, which all banks transfer.`,
      );
    }
  }
  const characters = findCharactersOutsideSepa(text);
  if (characters.length > 0) {
    const message = `${name} has characters outside the SEPA set: ${printCharacters(characters)}. Replace them.`;
    const suggest = () => (text.length <= maxSuggestionLength ? toSepaCharacters(text) : null);
    findings.add('CHARACTERS_NOT_SEPA', element, message, suggest);
  }
  if (references.has(name) && /^\/|\/\/|\/$/.test(text)) {
    const message = `${name} must not begin or end with a slash, and must not have two in a row.`;
    findings.add(
      'SLASHES_IN_REFERENCE',
      element,
      message,
      text.replace(/^\/+|\/+$/g, '').replaceAll(/\/{2,}/g, '/') || null,
    );
  }
}

/** The first ten, with the numbers of those that cannot be seen. */
function printCharacters(characters: readonly string[]): string {
  const printed = characters.slice(0, 10).map((character) => {
    const number = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return /[\p{L}\p{N}\p{P}\p{S}]/u.test(character) ? character : `U+${number}`;
  });
  const more = characters.length - printed.length;
  return printed.join(' ') + (more > 0 ? ` and ${more} more` : '');
}
