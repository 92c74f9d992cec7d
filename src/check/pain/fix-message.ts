import { isoDateOf } from '../../base/calendar-period.ts';
import { redactIbans } from '../../base/redact.ts';
import { compactIban, isValidIban, maskIban } from '../../iban/iban.ts';
import type { BankFacts } from '../bank-facts.ts';
import { PartChecks } from './check-parts.ts';
import { noSchemaCheck, SchemaComparison } from './check-schema.ts';
import { createTotalsCheck } from './check-totals.ts';
import { type Change, copyMessage, type Reviser, type Revision, readRevisions } from './copy-message.ts';
import { xpathOf } from './elements.ts';
import { type FoundProblem, MessageFindings } from './findings.ts';
import type { Profile } from './profiles.ts';
import type { RuleCode } from './rules.ts';
import { countCharacters } from './schema.ts';

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
  const createReviser = (revise: (revision: Revision) => void, isOfTotals: boolean): Reviser => {
    const findings = new MessageFindings(noAnswers, (problem) => {
      if (ofTotals.has(problem.code) !== isOfTotals) return;
      const after = repairOf(problem);
      if (after !== null && after !== problem.element.text) revise(createRevision(problem, after));
    });
    const parts = new PartChecks({
      ...{ findings, banks: noBanks, messageIds: new Set(), report: null, profile, today },
    });
    const discard = () => findings.discard();
    // Without all other checks: the message is read once more for them.
    if (isOfTotals) {
      const openDocument: Reviser['parts']['openDocument'] = (element, namespace) =>
        parts.openDocument(element, namespace);
      return { parts: { openDocument, ...createTotalsCheck(findings) }, schema: noSchemaCheck, discard };
    }
    return { parts, schema: new SchemaComparison(findings, profile), discard };
  };
  const known: Revision[] = [];
  for await (const { revisions } of readRevisions(open(), (revise) => createReviser(revise, true))) {
    known.push(...revisions);
  }
  known.sort((one, other) => one.start - other.start);
  yield* copyMessage(open(), { createReviser: (revise) => createReviser(revise, false), known, onChange });
}

const noAnswers = { find: () => ({ kind: 'not-asked', reason: null }) as const };
const noBanks: BankFacts = { has: () => false, accountCheckMethod: () => null, bics: () => [] };

/** Their repairs are known after the last transaction. */
const ofTotals: ReadonlySet<RuleCode> = new Set(['WRONG_NUMBER', 'TRANSACTION_COUNT_MISMATCH', 'CONTROL_SUM_MISMATCH']);

function createRevision({ code, element }: FoundProblem, after: string): Revision {
  const { name, line, start, end, text: before } = element;
  const show = name === 'IBAN' ? (iban: string) => maskIban(compactIban(iban)) : redactIbans;
  return {
    ...{ code, line, xpath: xpathOf(element), before: show(before), after: show(after), start },
    edit(source) {
      const content = source.text(start, end).replace(/<\/[^<]*$/, '');
      // A comment within a text is not lost.
      if (content === '' || content.replaceAll(/<!\[CDATA\[.*?\]\]>/gs, '').includes('<')) return [];
      return [{ start, end: start + content.length, written: source.write(after) }];
    },
  };
}

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
