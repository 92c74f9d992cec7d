import { type BicMatch, matchBic } from '../bank-lists/match-bic.ts';
import { compactBic, describeBicProblem, findBicProblems } from '../iban/bic.ts';
import type { CheckResult } from '../iban/german-account-checks.ts';
import { compactIban, describeIbanProblem, findIbanProblems } from '../iban/iban.ts';
import { suggestIbans } from '../iban/suggest-ibans.ts';
import type { Answer } from './answers/answer-source.ts';
import { type BankFacts, checkNationally, knownBics } from './bank-facts.ts';
import type { Cells } from './cells.ts';
import type { Columns } from './find-columns.ts';
import type { Finding, Place, Severity } from './finding.ts';

/** VALID and INVALID are about the IBAN. FAILED: the service failed for it. NOT_CHECKED: it was not asked. EMPTY: there is none. */
export type RowStatus = 'VALID' | 'INVALID' | 'FAILED' | 'NOT_CHECKED' | 'EMPTY';

/** What was found out about a row. Texts are empty where there is nothing to say. */
export interface RowResult {
  status: RowStatus;
  findings: readonly Finding[];
  /** IBANs that would be right, most likely first. */
  suggestions: readonly string[];
  bank: string;
  bic: string;
  bicMatch: BicMatch | '';
  nationalCheck: CheckResult | '';
  /** Compacted; empty if it is not well-formed. */
  iban: string;
}

/** The IBAN of a row, compacted; null if it is not well-formed, so that a service need not be asked. */
export function readRowIban(cells: Cells, { iban: column }: Columns): string | null {
  const iban = compactIban(String(cells[column] ?? ''));
  return iban !== '' && findIbanProblems(iban).length === 0 ? iban : null;
}

interface RowToJudge {
  /** From 1. */
  row: number;
  cells: Cells;
  columns: Columns;
  /** Null if the service need not be asked. */
  answer: Answer | null;
  banks: BankFacts;
}

/** All findings of a row. */
export function judgeRow({ row, cells, columns, answer, banks }: RowToJudge): RowResult {
  const findings: Finding[] = [];
  const add: AddFinding = (code, severity, column, message, suggestion = null) => {
    const place: Place = { row, column: column === null ? null : (columns.titles[column] ?? null) };
    findings.push({ code, severity, place, message, suggestion });
  };
  const width = columns.titles.length;
  if (cells.length > width) add('ROW_TOO_LONG', 'warning', null, describeLength(cells.length, width));
  const iban = compactIban(String(cells[columns.iban] ?? ''));
  const result =
    answer === null ? judgeAlone(iban, columns, banks, add) : judgeAnswer(iban, answer, columns, banks, add);
  const bicMatch = judgeBic(iban, cells, columns, answer, banks, add);
  return { ...empty, ...result, bicMatch, findings };
}

type AddFinding = (
  code: string,
  severity: Severity,
  column: number | null,
  message: string,
  suggestion?: string | null,
) => void;

const empty = { suggestions: [], bank: '', bic: '', nationalCheck: '', iban: '' } as const;

type Judgement = Pick<RowResult, 'status'> & Partial<RowResult>;

function describeLength(cells: number, width: number): string {
  return `The row has ${cells} cells, but the table ${width} columns; a cell may contain a delimiter without quotation marks.`;
}

/** What arithmetic tells. */
function judgeAlone(iban: string, { iban: column }: Columns, banks: BankFacts, add: AddFinding): Judgement {
  if (iban === '') {
    add('IBAN_MISSING', 'warning', column, 'The row has no IBAN.');
    return { status: 'EMPTY' };
  }
  const suggestions = suggestIbans(iban, { isKnownBank: banks.has });
  const suggestion = suggestions.join(' ') || null;
  for (const problem of findIbanProblems(iban)) {
    add(problem, 'error', column, describeIbanProblem(problem, iban), suggestion);
  }
  return { status: 'INVALID', suggestions };
}

function judgeAnswer(
  iban: string,
  answer: Answer,
  { iban: column }: Columns,
  banks: BankFacts,
  add: AddFinding,
): Judgement {
  const ownCheck = checkNationally(iban, banks);
  if (answer.kind === 'failed') {
    add('SERVICE_FAILED', 'error', column, `The IBAN is well-formed, but the service failed (${answer.code}).`);
    return { status: 'FAILED', nationalCheck: ownCheck, iban };
  }
  if (answer.kind === 'not-asked') {
    add('NOT_CHECKED', 'error', column, `The IBAN is well-formed, but the service was not asked: ${answer.reason}.`);
    return { status: 'NOT_CHECKED', nationalCheck: ownCheck, iban };
  }
  const check = answer.nationalCheck ?? ownCheck;
  if (check === 'FAILED') {
    const message = 'The national check digits do not match: confirm the IBAN with the payee; banks have exemptions.';
    add('NATIONAL_CHECK_FAILED', 'hint', column, message);
  }
  const facts = { nationalCheck: check, bank: answer.bank ?? '', bic: answer.bic ?? '', iban };
  if (answer.valid) return { status: 'VALID', ...facts };
  add('REJECTED_BY_SERVICE', 'error', column, 'The IBAN is well-formed, but the service says that it is not valid.');
  return { status: 'INVALID', ...facts };
}

function judgeBic(
  iban: string,
  cells: Cells,
  { bic: column }: Columns,
  answer: Answer | null,
  banks: BankFacts,
  add: AddFinding,
): RowResult['bicMatch'] {
  const bic = column === null ? '' : compactBic(String(cells[column] ?? ''));
  if (bic === '') return '';
  const [problem] = findBicProblems(bic);
  if (problem !== undefined) {
    add(`BIC_${problem}`, 'error', column, describeBicProblem(problem, bic));
    return 'UNKNOWN';
  }
  const known = knownBics(iban, answer, banks);
  const match = matchBic(bic, known);
  if (match === 'OTHER_BANK') {
    const message = 'The BIC is of another bank than the IBAN, as far as the bank lists tell; the IBAN decides.';
    add('BIC_OF_OTHER_BANK', 'hint', column, message, known[0] ?? null);
  }
  return match;
}
