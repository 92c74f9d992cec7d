import { type BicMatch, describeBicProblem, findBicProblems, matchBic } from '../iban/bic.ts';
import type { CheckResult } from '../iban/german-account-checks.ts';
import { describeIbanProblem, findIbanProblems, shortestIban } from '../iban/iban.ts';
import { suggestIbans } from '../iban/suggest-ibans.ts';
import type { Answer } from './answers/answer-source.ts';
import { type BankFacts, checkNationally, knownBics } from './bank-facts.ts';
import type { Columns, IbanColumn } from './find-columns.ts';
import { columnLetters } from './find-columns.ts';
import type { Finding, Severity } from './finding.ts';
import {
  type Cells,
  findValidIbans,
  hasFurtherIban,
  isShortenedNumber,
  looksLikeIban,
  readBicCell,
} from './iban-cells.ts';

/** VALID and INVALID are about the IBAN. FAILED: the service failed for it. NOT_CHECKED: it was not asked. EMPTY: there is none. */
export type RowStatus = 'VALID' | 'INVALID' | 'FAILED' | 'NOT_CHECKED' | 'EMPTY';

/** What was found out about the IBAN in one cell. Texts are empty where there is nothing to say. */
export interface CellResult {
  /** Its position, from 0. */
  column: number;
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
  /** Whether it is the payer's account in the row before, too, so that it is counted once. */
  isRepeated: boolean;
}

/** What was found out about a row. */
export interface RowResult {
  /** One for each column with IBANs, in their order. */
  cells: readonly CellResult[];
  /** About other cells, or all of them. */
  findings: readonly Finding[];
}

/** An IBAN cell of a row, before it is judged. */
export interface IbanCell extends IbanColumn {
  /** Compacted, right or wrong; empty if there is none. */
  iban: string;
  /** Null if the service need not be asked. */
  answer: Answer | null;
  isRepeated: boolean;
}

interface RowToJudge {
  /** From 1. */
  row: number;
  cells: Cells;
  columns: Columns;
  ibans: readonly IbanCell[];
  banks: BankFacts;
}

/** All findings of a row. */
export function judgeRow(row: RowToJudge): RowResult {
  const { cells, columns, ibans } = row;
  const findings: Finding[] = [];
  const width = columns.titles.length;
  if (cells.length > width && ibans.length > 0) {
    const message = `The row has ${cells.length} cells, but the table ${width} columns; a cell may contain a delimiter without quotation marks.`;
    findings.push(createFinding(row, 'ROW_TOO_LONG', 'warning', null, message));
  }
  findUncheckedIbans(row, findings);
  return { cells: ibans.map((cell) => judgeCell(row, cell)), findings };
}

function judgeCell(row: RowToJudge, cell: IbanCell): CellResult {
  const findings: Finding[] = [];
  const judgement = cell.answer === null ? judgeAlone(row, cell, findings) : judgeAnswer(row, cell, findings);
  const { status, suggestions = [], bank = '', bic = '', nationalCheck = '', iban = '' } = judgement;
  // Without an answer, no IBAN was taken from the cell, and it is INVALID anyway.
  if (cell.answer !== null && hasFurtherIban(row.cells[cell.column], cell.iban)) {
    const message = 'The cell has a further IBAN, right or wrong, which is not checked: write one IBAN in a cell.';
    findings.push(createFinding(row, 'IBAN_NOT_CHECKED', 'warning', cell.column, message));
  }
  const bicMatch = judgeBic(row, cell, findings);
  const { column, isRepeated } = cell;
  return { column, isRepeated, status, suggestions, bank, bic, bicMatch, nationalCheck, iban, findings };
}

type Judgement = Pick<CellResult, 'status'> & Partial<CellResult>;

/** What arithmetic tells. */
function judgeAlone(row: RowToJudge, { iban, column }: IbanCell, findings: Finding[]): Judgement {
  if (iban === '') {
    if (isMissing(row, column)) {
      findings.push(createFinding(row, 'IBAN_MISSING', 'warning', column, 'The row has no IBAN.'));
    }
    return { status: 'EMPTY' };
  }
  if (isShortenedNumber(row.cells[column])) {
    const message = 'A spreadsheet has shortened this number: format the column as text, and paste the IBANs again.';
    findings.push(createFinding(row, 'NUMBER_SHORTENED', 'error', column, message));
    return { status: 'INVALID' };
  }
  const suggestions = suggestIbans(iban, { isKnownBank: row.banks.has });
  const suggestion = suggestions.join(' ') || null;
  for (const problem of findIbanProblems(iban)) {
    findings.push(createFinding(row, problem, 'error', column, describeIbanProblem(problem, iban), suggestion));
  }
  return { status: 'INVALID', suggestions };
}

/** The row has no IBAN, which is reported once. That of the payer does not pay a payee without one. */
function isMissing({ ibans }: RowToJudge, column: number): boolean {
  if (column !== ibans[0]?.column) return false;
  const payees = ibans.filter(({ party }) => party !== 'payer');
  return (payees.length > 0 ? payees : ibans).every(({ iban }) => iban === '');
}

function judgeAnswer(row: RowToJudge, { iban, column, answer }: IbanCell, findings: Finding[]): Judgement {
  const text = 'The IBAN is well-formed, but the service';
  if (answer?.kind !== 'answered') {
    const nationalCheck = checkNationally(iban, row.banks);
    if (answer?.kind === 'failed') {
      findings.push(createFinding(row, 'SERVICE_FAILED', 'error', column, `${text} failed (${answer.code}).`));
      return { status: 'FAILED', nationalCheck, iban };
    }
    if (answer?.reason != null) {
      const message = `${text} was not asked: ${answer.reason}.`;
      findings.push(createFinding(row, 'NOT_CHECKED', 'error', column, message));
    }
    return { status: 'NOT_CHECKED', nationalCheck, iban };
  }
  const { valid, bank, bic, nationalCheck = checkNationally(iban, row.banks) } = answer;
  if (nationalCheck === 'FAILED') {
    const message = 'The national check digits do not match: confirm the IBAN with the payee; banks have exemptions.';
    findings.push(createFinding(row, 'NATIONAL_CHECK_FAILED', 'hint', column, message));
  }
  if (!valid) {
    findings.push(createFinding(row, 'REJECTED_BY_SERVICE', 'error', column, `${text} says that it is not valid.`));
  }
  return { status: valid ? 'VALID' : 'INVALID', nationalCheck, bank: bank ?? '', bic: bic ?? '', iban };
}

function judgeBic(row: RowToJudge, { iban, bic: column, answer }: IbanCell, findings: Finding[]): BicMatch | '' {
  const bic = column === null ? '' : readBicCell(row.cells[column]);
  if (bic === '') return '';
  const [problem] = findBicProblems(bic);
  if (problem !== undefined) {
    findings.push(createFinding(row, `BIC_${problem}`, 'error', column, describeBicProblem(problem, bic)));
    return 'UNKNOWN';
  }
  const known = knownBics(iban, answer, row.banks);
  const match = matchBic(bic, known);
  if (match === 'OTHER_BANK') {
    const message = 'The BIC is of another bank than the IBAN, as far as the bank lists tell; the IBAN decides.';
    findings.push(createFinding(row, 'BIC_OF_OTHER_BANK', 'hint', column, message, known[0] ?? null));
  }
  return match;
}

/** IBANs in other cells must not pass for checked ones. */
function findUncheckedIbans(row: RowToJudge, findings: Finding[]): void {
  const { cells, columns, ibans } = row;
  if (!columns.isWhole) return;
  const checkedColumns = new Set(ibans.map(({ column }) => column));
  const checkedIbans = new Set(ibans.map(({ iban }) => iban));
  for (const [column, cell] of cells.entries()) {
    if (typeof cell !== 'string' || cell.length < shortestIban) continue;
    if (checkedColumns.has(column) || isEarlierResult(column, columns)) continue;
    const found = findValidIbans(cell).filter((iban) => !checkedIbans.has(iban));
    // In a table of which no cell is checked, also those that are wrong.
    if (found.length === 0 && (columns.ibans.length > 0 || !looksLikeIban(cell))) continue;
    const message =
      'The cell has an IBAN, but its column is not checked: name the column, or give it a title such as IBAN.';
    findings.push(createFinding(row, 'IBAN_NOT_CHECKED', 'warning', column, message));
  }
}

function isEarlierResult(column: number, { earlierResult, titles }: Columns): boolean {
  return earlierResult !== null && column >= earlierResult && column < titles.length;
}

function createFinding(
  { row, columns }: RowToJudge,
  code: string,
  severity: Severity,
  column: number | null,
  message: string,
  suggestion: string | null = null,
): Finding {
  const title = column === null ? null : (columns.titles[column] ?? columnLetters(column));
  return { code, severity, place: { row, column: title }, message, suggestion };
}
