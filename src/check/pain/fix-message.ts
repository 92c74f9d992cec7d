import { compactIban, isValidIban } from '../../iban/iban.ts';
import type { BankFacts } from '../bank-facts.ts';
import type { RuleCode } from '../finding.ts';
import { PartChecks } from './check-message.ts';
import { SchemaComparison } from './check-schema.ts';
import { createTotalsCheck } from './check-totals.ts';
import { readList } from './code-lists.ts';
import { type CopyOptions, copyMessage, type Revision } from './copy-message.ts';
import type { XmlElement } from './elements.ts';
import { type FoundProblem, MessageFindings } from './findings.ts';
import { findVersion } from './message-versions.ts';
import type { Profile } from './profiles.ts';
import { type ElementRevision, placeRevision, repairElement, replaceText } from './revise-elements.ts';
import { countCharacters } from './schema.ts';

interface FixOptions extends Pick<CopyOptions, 'onChange'> {
  profile: Profile;
  /** ISO 8601, such as 2026-11-26. */
  today?: string;
}

/**
 * A copy of a message, with what is certain repaired; each other byte is as it was. Amounts and accounts are unchanged, but for
 * spaces in IBANs. The message is read twice: its header has sums that are known after its last transaction.
 * @param open reads the file from its start
 * @throws Refusal if it cannot be read to its end
 */
export async function* fixMessage(
  open: () => AsyncIterable<Buffer>,
  { onChange, ...options }: FixOptions,
): AsyncGenerator<Buffer> {
  let known: Revision[] = [];
  // Without all other checks: the message is read once more for them.
  const findTotals = () => {
    const { findings, reviseUpTo } = collectProblems((code) => ofTotals.has(code));
    const parts = { findVersion, ...createTotalsCheck(findings) };
    return { parts, settle: (end: number) => reviseUpTo(end, (revision) => known.push(revision)) };
  };
  for await (const _ of copyMessage(open(), { createReviser: findTotals, onChange() {} }));
  yield* copyMessage(open(), {
    createReviser(revise) {
      const { findings, reviseUpTo } = collectProblems((code) => !ofTotals.has(code));
      const checks = new PartChecks(findings, { ...options, banks: noBanks, messageIds: new Set() });
      return {
        parts: checks,
        elements: new SchemaComparison(findings, options.profile),
        settle(end) {
          reviseUpTo(end, revise);
          for (const each of known.filter(({ start }) => start < end)) revise(each);
          known = known.filter(({ start }) => start >= end);
        },
      };
    },
    onChange,
  });
}

/** The problems of a message, until they are settled. */
function collectProblems(isWanted: (code: RuleCode) => boolean) {
  let problems: FoundProblem[] = [];
  const findings = new MessageFindings(noAnswers, (problem) => {
    if (isWanted(problem.code)) problems.push(problem);
  });
  return {
    findings,
    reviseUpTo(end: number, revise: (revision: Revision) => void): void {
      findings.discard();
      const isSettled = ({ element }: FoundProblem) => element.start < end;
      reviseElements(problems.filter(isSettled), revise);
      problems = problems.filter((each) => !isSettled(each));
    },
  };
}

const noAnswers = { find: () => ({ kind: 'not-asked', reason: null }) as const };
const noBanks: BankFacts = { has: () => false, accountCheckMethod: () => null, bics: () => [] };

/** Their repairs are known after the last transaction. */
const ofTotals: ReadonlySet<RuleCode> = new Set(['WRONG_NUMBER', 'TRANSACTION_COUNT_MISMATCH', 'CONTROL_SUM_MISMATCH']);

function reviseElements(problems: readonly FoundProblem[], revise: (revision: Revision) => void): void {
  const repaired = new Map<XmlElement, string>();
  const add = ({ element, path }: FoundProblem, revision: ElementRevision) =>
    revise(placeRevision(revision, element, path));
  for (const problem of problems) {
    const after = repairText(problem);
    if (after === null || after === problem.element.text) continue;
    repaired.set(problem.element, after);
    add(problem, replaceText(problem, after));
  }
  // Addresses have the texts that are repaired.
  for (const problem of problems) {
    const revision = repairElement(problem, repaired);
    if (revision !== null) add(problem, revision);
  }
}

/** What is certain, and null for all else. Identifiers and references are compared by others, so their characters are unchanged. */
function repairText({ code, element, suggestion = null }: FoundProblem): string | null {
  const { text } = element;
  const suggest = () => (typeof suggestion === 'function' ? suggestion() : suggestion);
  if (ofTotals.has(code)) return suggest();
  const compact = text.replaceAll(/\s/g, '');
  if (code === 'IBAN_NOT_COMPACT') return compact === compactIban(text) && isValidIban(compact) ? compact : null;
  if (isOfCharacters.has(code)) {
    const after = textsForPeople.has(element.name) ? suggest() : null;
    const isLonger =
      after !== null && element.name === 'Nm' && countCharacters(after) > Math.max(70, countCharacters(text));
    return after === null || isLonger || !element.allows(after) ? null : after;
  }
  // In SEPA, SLEV says the same as SHAR.
  const meant = compact === 'SHAR' ? 'SLEV' : compact.toUpperCase();
  if (isOfCode.has(code)) return suggest() === meant ? meant : null;
  if (!isOfSpace.has(code)) return null;
  const trimmed = text.trim();
  return element.allows(trimmed) && !element.allows(text) ? trimmed : null;
}

const isOfCharacters: ReadonlySet<RuleCode> = new Set(['CHARACTERS_NOT_SEPA', 'CHARACTERS_NOT_SWISS']);
const isOfSpace: ReadonlySet<RuleCode> = new Set(['WRONG_VALUE', 'TEXT_TOO_LONG']);
/** They may be right but for white space and small letters. */
const isOfCode: ReadonlySet<string> = new Set(
  `WRONG_CODE COUNTRY_INVALID CHARGE_BEARER_NOT_SLEV SERVICE_LEVEL_UNKNOWN EXTERNAL_CODE_UNKNOWN PURPOSE_FORMAT BIC_ILLEGAL_CHARACTERS
  BIC_WRONG_LENGTH`.split(/\s+/),
);
const textsForPeople = readList('text for people');
