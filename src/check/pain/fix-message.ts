import iconv from 'iconv-lite';
import { isoDateOf } from '../../base/calendar-period.ts';
import { redactIbans } from '../../base/redact.ts';
import { compactIban, isValidIban, maskIban } from '../../iban/iban.ts';
import type { BankFacts } from '../bank-facts.ts';
import { createPartChecks } from './check-parts.ts';
import { createSchemaCheck, noSchemaCheck, type SchemaCheck } from './check-schema.ts';
import { createTotalsCheck } from './check-totals.ts';
import { decodeXml } from './decode-xml.ts';
import { xpathOf } from './elements.ts';
import { escapeAmpersands } from './escape-ampersands.ts';
import { type FoundProblem, MessageFindings } from './findings.ts';
import type { Profile } from './profiles.ts';
import { type MessageParts, MessageReader } from './read-message.ts';
import { Refusal, type RuleCode } from './rules.ts';
import { countCharacters } from './schema.ts';

/** What differs between a message and its copy. IBANs are masked. */
export interface Change {
  code: RuleCode;
  /** Where it is in the message, not in the copy. */
  line: number;
  xpath: string;
  before: string;
  after: string;
}

interface FixOptions {
  profile: Profile;
  /** ISO 8601, such as 2026-11-26. */
  today?: string;
  onChange(change: Change): Promise<void> | void;
}

/**
 * A copy of a message, with what is certain repaired; each other byte is as it was. Amounts and accounts are unchanged, but for
 * spaces in IBANs. The message is read twice: its header has sums that are known after its last transaction.
 * @param open reads the file from its start
 * @throws Refusal if it cannot be read to its end
 */
export async function* fixMessage(
  open: () => AsyncIterable<Buffer>,
  { profile, today = isoDateOf(), onChange }: FixOptions,
): AsyncGenerator<Buffer> {
  const createChecks = (findings: MessageFindings): Checks => {
    const { parts } = createPartChecks({
      ...{ findings, banks: noBanks, messageIds: new Set(), report: null, profile, today },
    });
    return { parts, schema: createSchemaCheck(findings, profile) };
  };
  const createTotalChecks = (findings: MessageFindings) => onlyTotals(createChecks(findings).parts, findings);
  const totals: Repair[] = [];
  for await (const { repairs } of readRepairs(open(), createTotalChecks)) totals.push(...repairs);
  totals.sort((one, other) => one.start - other.start);
  let nextTotal = 0;
  let encoder: ReturnType<typeof iconv.getEncoder> | null = null;
  for await (const part of readRepairs(open(), createChecks)) {
    if (encoder === null && part.removedSpace !== '') {
      await onChange({ code: 'NOT_XML', line: 1, xpath: '/', before: part.removedSpace, after: '' });
    }
    encoder ??= iconv.getEncoder(part.encoding, { addBOM: false });
    const repairs = part.repairs.filter(({ code }) => !ofTotals.has(code));
    const end = part.start + part.text.length;
    for (let next = totals[nextTotal]; next !== undefined && next.start < end; next = totals[nextTotal]) {
      repairs.push(next);
      nextTotal += 1;
    }
    const { copy, changes } = repairText(part, repairs);
    for (const change of changes) await onChange(change);
    const bytes = encoder.write(copy);
    if (bytes.length > 0) yield bytes;
  }
  const end = encoder?.end();
  if (end !== undefined && end.length > 0) yield end;
}

/** What a text should be. */
interface Repair {
  code: RuleCode;
  line: number;
  xpath: string;
  /** Where the content of the element begins, in characters of the message. */
  start: number;
  /** Where its end tag ends. */
  end: number;
  before: string;
  after: string;
  isIban: boolean;
}

/** Where `amp;` was inserted. */
type Ampersand = Pick<Repair, 'start' | 'line' | 'xpath'>;

/** A piece of a message of which all repairs are known, but those of totals, which are after it. */
interface RepairedPart {
  text: string;
  /** Where the text begins, in characters of the message. */
  start: number;
  repairs: readonly Repair[];
  ampersands: readonly Ampersand[];
  encoding: string;
  /** White space before the XML declaration of the message. */
  removedSpace: string;
}

interface Checks {
  parts: MessageParts;
  schema: SchemaCheck;
}

/** Without all other checks: the message is read once more for them. */
function onlyTotals({ openDocument }: MessageParts, findings: MessageFindings): Checks {
  const parts = { openDocument, ...createTotalsCheck(findings) };
  return { parts, schema: noSchemaCheck };
}

/** Checks a message, and finds what can be repaired. */
async function* readRepairs(
  chunks: AsyncIterable<Buffer>,
  createChecks: (findings: MessageFindings) => Checks,
): AsyncGenerator<RepairedPart> {
  let text = '';
  let start = 0;
  let repairs: Repair[] = [];
  let ampersands: Ampersand[] = [];
  let settledAt = 0;
  let encoding = 'utf-8';
  const decoded = decodeXml(chunks, {
    maxBytes: maxMessageBytes,
    onEncoding(name) {
      encoding = name;
    },
  });
  const { pieces, inserted, removedSpace, removedLines } = escapeAmpersands(decoded);
  const findings = new MessageFindings(noAnswers, (problem) => {
    const after = repairOf(problem);
    const { element, code } = problem;
    if (after === null || after === element.text) return;
    const place = { line: element.line + removedLines(), xpath: xpathOf(element) };
    const content = { start: element.start, end: element.end, before: element.text, after };
    repairs.push({ code, ...place, ...content, isIban: element.name === 'IBAN' });
  });
  const { parts, schema } = createChecks(findings);
  const settle = () => {
    settledAt = reader.position().offset;
  };
  const reader = new MessageReader(
    {
      ...parts,
      // With the first transaction, all before it is checked.
      transaction(element, version) {
        parts.transaction(element, version);
        settle();
      },
      closePayment(element, version) {
        parts.closePayment(element, version);
        settle();
      },
    },
    schema,
  );

  for await (const piece of pieces) {
    if (piece.includes('\uFFFD')) throw new Refusal('ENCODING_BROKEN', 'The file has bytes that are not characters.');
    const pieceStart = start + text.length;
    let read = 0;
    const readUpTo = (end: number) => {
      reader.write(piece.slice(read, end));
      read = end;
    };
    text += piece;
    for (const at of inserted.splice(0)) {
      readUpTo(at + 'amp;'.length - pieceStart);
      const { line, element } = reader.position();
      ampersands.push({ start: at, line: line + removedLines(), xpath: element === null ? '/' : xpathOf(element) });
    }
    readUpTo(piece.length);
    findings.discard();
    if (settledAt > start) yield takePart();
  }
  reader.end();
  settledAt = start + text.length;
  yield takePart();

  function takePart(): RepairedPart {
    const length = settledAt - start;
    const isInside = (each: { start: number }) => each.start < settledAt;
    const part = { text: text.slice(0, length), start, encoding, removedSpace: removedSpace() };
    const taken = { repairs: repairs.filter(isInside), ampersands: ampersands.filter(isInside) };
    repairs = repairs.filter((each) => !isInside(each));
    ampersands = ampersands.filter((each) => !isInside(each));
    text = text.slice(length);
    start = settledAt;
    return { ...part, ...taken };
  }
}

const maxMessageBytes = 1_000_000_000;
const noAnswers = { find: () => ({ kind: 'not-asked', reason: null }) as const };
const noBanks: BankFacts = { has: () => false, accountCheckMethod: () => null, bics: () => [] };

/** Their repairs are known after the last transaction. */
const ofTotals: ReadonlySet<RuleCode> = new Set(['WRONG_NUMBER', 'TRANSACTION_COUNT_MISMATCH', 'CONTROL_SUM_MISMATCH']);

/** What is certain, and null for all else. Identifiers and references are compared by others, so their characters are unchanged. */
function repairOf({ code, element, suggestion }: FoundProblem): string | null {
  const { text } = element;
  if (ofTotals.has(code)) return suggestion();
  if (code === 'IBAN_NOT_COMPACT') {
    const compact = text.replaceAll(/\s/g, '');
    return compact === compactIban(text) && isValidIban(compact) ? compact : null;
  }
  if (isOfCharacters.has(code)) {
    const after = textsForPeople.has(element.name) ? suggestion() : null;
    const isLonger =
      after !== null && element.name === 'Nm' && countCharacters(after) > Math.max(70, countCharacters(text));
    return after === null || isLonger || !element.allows(after) ? null : after;
  }
  if (!isOfSpace.has(code)) return null;
  const trimmed = text.trim();
  return element.allows(trimmed) && !element.allows(text) ? trimmed : null;
}

const isOfCharacters: ReadonlySet<RuleCode> = new Set(['CHARACTERS_NOT_SEPA', 'CHARACTERS_NOT_SWISS']);
const isOfSpace: ReadonlySet<RuleCode> = new Set(['WRONG_VALUE', 'TEXT_TOO_LONG']);
const textsForPeople: ReadonlySet<string> = new Set(
  `Nm Ustrd AdrLine CareOf Dept SubDept StrtNm BldgNb BldgNm Flr UnitNb PstBx Room PstCd TwnNm TwnLctnNm DstrctNm CtrySubDvsn
  AddtlRmtInf InstrInf`.split(/\s+/),
);

interface Replacement {
  start: number;
  end: number;
  /** As it is written in the copy. */
  written: string;
  change: Change;
}

/** The text of the copy, and what differs. */
function repairText(
  { text, start, ampersands, encoding }: RepairedPart,
  repairs: readonly Repair[],
): { copy: string; changes: readonly Change[] } {
  const replacements = new Map<number, Replacement>();
  for (const { start: at, end, isIban, before, after, ...place } of repairs) {
    const content = text.slice(at - start, end - start).replace(/<\/[^<]*$/, '');
    // A comment within a text is not lost.
    if (content === '' || content.replaceAll(/<!\[CDATA\[.*?\]\]>/gs, '').includes('<')) continue;
    const show = isIban ? (iban: string) => maskIban(compactIban(iban)) : redactIbans;
    const change = { ...place, before: show(before), after: show(after) };
    replacements.set(at, { start: at, end: at + content.length, written: writeText(after, encoding), change });
  }
  const ordered = [...replacements.values()].sort((one, other) => one.start - other.start);
  let copy = '';
  let at = start;
  for (const { start: from, end, written } of ordered) {
    copy += text.slice(at - start, from - start) + written;
    at = end;
  }
  // The replacement of a text is one change, whatever ampersands the text had.
  let nextReplaced = 0;
  const isReplaced = (place: number) => {
    while ((ordered[nextReplaced]?.end ?? place + 1) <= place) nextReplaced += 1;
    return (ordered[nextReplaced]?.start ?? place + 1) <= place;
  };
  const escaped = ampersands
    .filter((each) => !isReplaced(each.start))
    .map(({ start: place, line, xpath }) => {
      const change: Change = { code: 'NOT_WELL_FORMED', line, xpath, before: '&', after: '&amp;' };
      return { start: place, change };
    });
  const changes = [...ordered, ...escaped].sort((one, other) => one.start - other.start).map(({ change }) => change);
  return { copy: copy + text.slice(at - start), changes };
}

/** Characters that the encoding may not have are written as their numbers. */
function writeText(text: string, encoding: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  if (encoding.startsWith('utf')) return escaped;
  return escaped.replaceAll(/[^\0-\x7F]/gu, (character) => `&#${character.codePointAt(0)};`);
}
