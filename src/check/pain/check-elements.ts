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
import { mod97 } from '../../iban/mod97.ts';
import { findCountryFormat } from '../../iban/registry.ts';
import { suggestIbans } from '../../iban/suggest-ibans.ts';
import { type BankFacts, checkNationally } from '../bank-facts.ts';
import { fingerprintOf } from '../fingerprints.ts';
import { find, findAll, textOf, visitElements, type XmlElement } from './elements.ts';
import type { CheckContext, MessageFindings } from './findings.ts';
import { countCharacters } from './schema.ts';
import { findCharactersOutsideSepa, findCharactersOutsideSwiss, swiss, toSepaCharacters } from './sepa-characters.ts';
import { parseDate, parseDateTime } from './values.ts';

/** Checks each element below, by its name, wherever it is. */
export function checkElements(part: XmlElement, context: CheckContext): void {
  const { findings } = context;
  visitElements(part, (element) => {
    if (element.text.includes('\uFFFD')) {
      const message =
        'The text has bytes that are not characters of the encoding. Declare the encoding in which the file was saved.';
      findings.add('ENCODING_BROKEN', element, message);
    } else if (element.children.length > 0 || element.text.trim() !== '' || mayBeEmpty.has(element.name)) {
      (checksByName.get(element.name) ?? checkText)(element, context);
    }
  });
}

/** Their checks find what is missing. */
const mayBeEmpty: ReadonlySet<string> = new Set(['PstlAdr', 'FinInstnId']);

type ElementCheck = (element: XmlElement, context: CheckContext) => void;

/** By the names of elements; the texts of all others are checked. */
const checksByName: ReadonlyMap<string, ElementCheck> = new Map(
  Object.entries({
    ...{ IBAN: checkIban, LEI: checkLei, 'BIC BICFI AnyBIC BICOrBEI': checkBic, PstlAdr: checkAddress },
    ...{ 'Ctry CtryOfRes CtryOfBirth': checkCountry, RmtInf: checkRemittance },
    ...{ FinInstnId: checkInstitution, ClrSysMmbId: checkClearingMember },
    // These are checked with the part that they belong to.
    'CreDtTm InstdAmt NbOfTxs CtrlSum ReqdColltnDt DtOfSgntr ReqdExctnDt': () => {},
    // These are not transferred.
    'ElctrncAdr ElctrncSgntr EmailAdr RmtLctnElctrncAdr URLAdr': () => {},
  }).flatMap(([names, check]) => names.split(' ').map((name) => [name, check] as const)),
);

function checkIban(element: XmlElement, { findings, ibans, banks }: CheckContext): void {
  const iban = compactIban(element.text);
  // IBANs have at most 34 characters.
  const masked = iban.length <= 40 ? maskIban(iban) : `of ${iban.length} characters`;
  if (iban !== element.text) {
    const message = `The IBAN ${masked} is written with spaces, hyphens or lower case. Write only capital letters and digits.`;
    findings.add('IBAN_NOT_COMPACT', element, message, isValidIban(iban) ? iban : null);
  }
  const [problem, ...others] = findIbanProblems(iban);
  if (problem !== undefined) {
    // Not all messages need a country of the registry, so the other problems of its IBANs are reported, too.
    for (const each of problem === 'NOT_REGISTERED' ? [problem, ...others] : [problem]) {
      const message = `The IBAN ${masked} is not valid. ${describeIbanProblem(each, iban)}`;
      findings.add(each, element, message, () => suggestIban(iban, banks));
    }
    return;
  }
  if (checkNationally(iban, banks) === 'FAILED') {
    const message = `The national check digits of the IBAN ${masked} do not match. Ask the account holder for the IBAN.`;
    findings.add('NATIONAL_CHECK_FAILED', element, message);
  }
  const country = iban.slice(0, 2);
  if (findCountryFormat(country)?.sepa === false) {
    const message = `${country}, the country of the IBAN ${masked}, is not in SEPA, but the payment is.`;
    findings.add('IBAN_OUTSIDE_SEPA', element, message);
  }
  // Not that of the payment, whose bank gets the message.
  const isOfOther = element.parent?.parent?.parent?.name !== 'PmtInf';
  if (isOfOther && banks.status?.(country, parseIban(iban)?.bankCode ?? '') === 'NOT_LISTED') {
    const message = `The list of banks of ${country} has no bank of the IBAN ${masked}. Ask the account holder for the IBAN.`;
    findings.addAnswered(element, iban, (answer) =>
      answer.kind === 'answered' && answer.bank !== null ? null : { code: 'IBAN_BANK_UNKNOWN', message },
    );
  }
  const isFirst = ibans.add(fingerprintOf(iban), element.line) === null;
  findings.addAnswered(element, iban, (answer) => {
    if (answer.kind === 'answered') {
      const message = `The bank-data service does not accept the IBAN ${masked}. Ask the account holder for the IBAN.`;
      return answer.valid ? null : { code: 'REJECTED_BY_SERVICE', message };
    }
    if (!isFirst || (answer.kind === 'not-asked' && answer.reason === null)) return null;
    const text = `The IBAN ${masked} is well-formed, but the service`;
    return answer.kind === 'failed'
      ? { code: 'SERVICE_FAILED', message: `${text} failed (${answer.code}). Check it again later.` }
      : { code: 'NOT_CHECKED', message: `${text} was not asked: ${answer.reason}.` };
  });
}

/** The number of a bank in the payment system of its country. */
function checkClearingMember(member: XmlElement, { findings, banks }: CheckContext): void {
  const countries = clearingSystems[textOf(find(member, 'ClrSysId', 'Cd')) ?? ''];
  const element = find(member, 'MmbId');
  const number = textOf(element)?.padStart(5, '0') ?? '';
  if (!countries?.every((each) => banks.status?.(each, number) === 'NOT_LISTED')) return;
  findings.add('IBAN_BANK_UNKNOWN', element, `The list of banks of ${countries[0]} has no bank of this number.`);
}

const clearingSystems: Readonly<Record<string, readonly string[]>> = { CHBCC: ['CH', 'LI'], DEBLZ: ['DE'] };

/** The only valid IBAN one typing error away or, if there are several, the only one of a bank that is known. */
function suggestIban(iban: string, banks: BankFacts): string | null {
  const all = suggestIbans(iban, { isKnownBank: banks.has });
  const passing = all.filter((candidate) => checkNationally(candidate, banks) !== 'FAILED');
  const candidates = passing.length > 0 ? passing : all;
  const known = candidates.filter((candidate) => {
    const parts = parseIban(candidate);
    return parts !== null && banks.has(parts.countryCode, parts.bankCode);
  });
  const [one = null, ...others] = candidates.length > 1 ? known : candidates;
  return others.length === 0 ? one : null;
}

function checkBic(element: XmlElement, { findings }: CheckContext): void {
  const { text } = element;
  const [problem] = findBicProblems(text);
  if (text.trim() === 'NOTPROVIDED') {
    findings.add('BIC_NOT_PROVIDED', element, `NOTPROVIDED is not a BIC. ${adviseBic(element.parent)}`);
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

function checkLei(element: XmlElement, { findings }: CheckContext): void {
  const text = textOf(element) ?? '';
  if (!/^[A-Z0-9]{18}\d\d$/.test(text) || mod97(text, 0) === 1) return;
  const message = 'The check digits of the LEI do not match. Look it up in the register of LEIs.';
  findings.add('LEI_CHECK_DIGITS', element, message);
}

function checkAddress(address: XmlElement, { findings }: CheckContext): void {
  const lines = findAll(address, 'AdrLine');
  const hasTown = textOf(find(address, 'TwnNm')) !== null;
  const hasCountry = textOf(find(address, 'Ctry')) !== null;
  if (lines.length > 0 && lines.length === address.children.filter(({ name }) => name !== 'AdrTp').length) {
    const message =
      'The address has only lines, which is refused since November 2026. Add TwnNm and Ctry, with at most two AdrLine.';
    findings.add('ADDRESS_UNSTRUCTURED', address, message);
    return;
  }
  if (lines.length > 0 && hasTown) {
    const text = 'with AdrLine beside TwnNm, which a bank may accept. Ask it, or write StrtNm and BldgNb.';
    findings.addSummary('ADDRESS_HYBRID', address, 'address', text);
  }
  if (!hasTown)
    findings.add('ADDRESS_WITHOUT_TOWN', address, 'The address has no town. Add TwnNm, or leave the address out.');
  if (!hasCountry) {
    findings.add('ADDRESS_WITHOUT_COUNTRY', address, 'The address has no country. Add Ctry, or leave the address out.');
  }
  const message = `The address has ${lines.length} AdrLine beside its elements. At most two are allowed.`;
  findings.add('ADDRESS_LINES', lines[2] ?? null, message);
}

function checkCountry(element: XmlElement, { findings }: CheckContext): void {
  const code = textOf(element);
  if (code === null || countryCodes.has(code)) return;
  const capitals = code.toUpperCase();
  const message = 'The country must be two capital letters of ISO 3166-1, such as DE.';
  findings.add('COUNTRY_INVALID', element, message, countryCodes.has(capitals) ? capitals : null);
}

function checkRemittance(remittance: XmlElement, { findings }: CheckContext): void {
  const [first = null, second = null] = remittance.children;
  const length = findAll(remittance, 'Ustrd').reduce((sum, { text }) => sum + countCharacters(text), 0);
  if (length > 140) {
    const message = `The remittance information has ${length} characters. At most 140 are transferred.`;
    findings.add('REMITTANCE_TOO_LONG', first, message);
  }
  const message = `The remittance information is given ${remittance.children.length} times. Give one Ustrd or one Strd.`;
  findings.add('REMITTANCE_REPEATED', second, message);
}

function checkInstitution(institution: XmlElement, { findings }: CheckContext): void {
  const other = find(institution, 'Othr', 'Id');
  const hasBic = find(institution, 'BICFI') !== null || find(institution, 'BIC') !== null;
  if (!hasBic && textOf(other) !== 'NOTPROVIDED') {
    const message = `A bank in SEPA has no other identification than NOTPROVIDED. ${adviseBic(institution)}`;
    findings.add('INSTITUTION_OTHER', other, message);
  }
  if (hasBic || institution.children.some(({ name }) => name !== 'Nm' && name !== 'PstlAdr')) return;
  const has = institution.children.length === 0 ? 'is empty' : 'has only a name or address';
  const message = `FinInstnId ${has}. ${adviseBic(institution)}`;
  findings.add('INSTITUTION_EMPTY', institution, message);
  findings.add('INSTITUTION_MISSING', institution, message);
}

/** The bank of a payee need not be given, and German banks refuse NOTPROVIDED for it. */
function adviseBic(institution: XmlElement | null): string {
  const agent = institution?.parent;
  const isOfPayee = agent?.name === 'CdtrAgt' && agent.parent?.name === 'CdtTrfTxInf';
  return `Write the BIC, or ${isOfPayee ? 'leave CdtrAgt out' : 'Othr/Id with NOTPROVIDED'}.`;
}

/** The calendar day of a date or time; null if it is missing or has another format, which the schema refuses. */
export function readDay(element: XmlElement | null): string | null {
  const text = textOf(element);
  if (element === null || text === null) return null;
  return element.name === 'DtTm' ? parseDateTime(text) : parseDate(text);
}

const references: ReadonlySet<string> = new Set('MsgId PmtInfId InstrId EndToEndId MndtId OrgnlMndtId'.split(' '));

/** Longer texts are refused anyway. */
const maxSuggestionLength = 1000;

function checkText(element: XmlElement, { findings }: CheckContext): void {
  const { name, text, children } = element;
  if (children.length > 0) return;
  const length = name === 'Nm' ? countCharacters(text) : 0;
  if (length > 70 && length <= 140) {
    const message = `The name has ${length} characters. Shorten it to 70, which all banks transfer.`;
    findings.add('NAME_OVER_70', element, message);
  }
  checkCharacters(element, findings);
  if (references.has(name) && /^\/|\/\/|\/$/.test(text)) {
    const message = `${name} must not begin or end with a slash, and must not have two in a row.`;
    const suggestion = text.replace(/^\/+|\/+$/g, '').replaceAll(/\/{2,}/g, '/') || null;
    findings.add('SLASHES_IN_REFERENCE', element, message, suggestion);
  }
}

function checkCharacters(element: XmlElement, findings: MessageFindings): void {
  const { name, text } = element;
  // A Belgian structured communication may be written with asterisks.
  const written = text.replace(/^\*{3}(\d{3}\/\d{4}\/\d{5})\*{3}$/, '+++$1+++');
  const suggest = (kept?: RegExp) => () =>
    text.length <= maxSuggestionLength ? toSepaCharacters(written, kept) : null;
  if (findings.scheme === 'sps') {
    const characters = findCharactersOutsideSwiss(text);
    if (characters.length === 0) return;
    const message = `${name} has characters outside the Swiss set: ${printCharacters(characters)}. Replace them.`;
    findings.add('CHARACTERS_NOT_SWISS', element, message, suggest(swiss));
    return;
  }
  const outside = findCharactersOutsideSepa(text);
  if (outside.length === 0) return;
  const isGerman = findings.scheme === 'dk' && !references.has(name);
  const characters = isGerman ? outside.filter((character) => !convertedByGermanBanks.test(character)) : outside;
  if (characters.length === 0) {
    const text = 'with characters such as ä or &, which banks may convert. Replace them to decide how.';
    findings.addSummary('CHARACTERS_CONVERTED', element, 'text', text);
    return;
  }
  const message = `${name} has characters outside the SEPA set: ${printCharacters(characters)}. Replace them.`;
  findings.add('CHARACTERS_NOT_SEPA', element, message, suggest(isGerman ? convertedByGermanBanks : undefined));
}

const convertedByGermanBanks = /[ÄÖÜäöüß&*$%]/;

/** The first ten, with the numbers of those that cannot be seen. */
function printCharacters(characters: readonly string[]): string {
  const printed = characters.slice(0, 10).map((character) => {
    const number = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return /[\p{L}\p{N}\p{P}\p{S}]/u.test(character) ? character : `U+${number}`;
  });
  const more = characters.length - printed.length;
  return printed.join(' ') + (more > 0 ? ` and ${more} more` : '');
}
