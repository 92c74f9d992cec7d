import { type BicMatch, describeBicProblem, findBicProblems, matchBic } from '../iban/bic.ts';
import type { CheckResult } from '../iban/german-account-checks.ts';
import { describeIbanProblem, findIbanProblems, shortestIban } from '../iban/iban.ts';
import { suggestIbans } from '../iban/suggest-ibans.ts';
import type { Answer } from './answers/answers.ts';
import { type BankFacts, checkNationally, knownBics } from './bank-facts.ts';
import type { Columns, IbanColumn } from './find-columns.ts';
import { columnLetters } from './find-columns.ts';
import { createFinding, type Finding } from './finding.ts';
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

/** @param column null: it is about the whole row */
type Report = (code: Finding['code'], column: number | null, message: string, suggestion?: string | null) => void;

/** All findings of a row. */
export function judgeRow(row: RowToJudge): RowResult {
  const { cells, columns, ibans } = row;
  const { findings, report } = collect(row);
  const width = columns.titles.length;
  if (cells.length > width && ibans.length > 0) {
    const message = `The row has ${cells.length} cells, but the table ${width} columns; a cell may contain a delimiter without quotation marks.`;
    report('ROW_TOO_LONG', null, message);
  }
  findUncheckedIbans(row, report);
  return { cells: ibans.map((cell) => judgeCell(row, cell)), findings };
}

function collect({ row, columns }: RowToJudge): { findings: readonly Finding[]; report: Report } {
  const findings: Finding[] = [];
  return {
    findings,
    report(code, column, message, suggestion) {
      const title = column === null ? null : (columns.titles[column] ?? columnLetters(column));
      findings.push(createFinding(code, { row, column: title }, message, suggestion));
    },
  };
}

function judgeCell(row: RowToJudge, cell: IbanCell): CellResult {
  const { findings, report } = collect(row);
  const judgement = cell.answer === null ? judgeAlone(row, cell, report) : judgeAnswer(row, cell, report);
  const { status, suggestions = [], bank = '', bic = '', nationalCheck = '', iban = '' } = judgement;
  // Without an answer, no IBAN was taken from the cell, and it is INVALID anyway.
  if (cell.answer !== null && hasFurtherIban(row.cells[cell.column], cell.iban)) {
    const message = 'The cell has a further IBAN, right or wrong, which is not checked: write one IBAN in a cell.';
    report('IBAN_NOT_CHECKED', cell.column, message);
  }
  const bicMatch = judgeBic(row, cell, report);
  const { column, isRepeated } = cell;
  return { column, isRepeated, status, suggestions, bank, bic, bicMatch, nationalCheck, iban, findings };
}

type Judgement = Pick<CellResult, 'status'> & Partial<CellResult>;

/** What arithmetic tells. */
function judgeAlone(row: RowToJudge, { iban, column }: IbanCell, report: Report): Judgement {
  if (iban === '') {
    if (isMissing(row, column)) report('IBAN_MISSING', column, 'The row has no IBAN.');
    return { status: 'EMPTY' };
  }
  if (isShortenedNumber(row.cells[column])) {
    const message = 'A spreadsheet has shortened this number: format the column as text, and paste the IBANs again.';
    report('NUMBER_SHORTENED', column, message);
    return { status: 'INVALID' };
  }
  const suggestions = suggestIbans(iban, { isKnownBank: row.banks.has });
  const suggestion = suggestions.join(' ') || null;
  for (const problem of findIbanProblems(iban)) report(problem, column, describeIbanProblem(problem, iban), suggestion);
  return { status: 'INVALID', suggestions };
}

/** The row has no IBAN, which is reported once. That of the payer does not pay a payee without one. */
function isMissing({ ibans }: RowToJudge, column: number): boolean {
  if (column !== ibans[0]?.column) return false;
  const named = ibans.filter(({ party }) => party === 'payee');
  const payees = named.length > 0 ? named : ibans.filter(({ party }) => party !== 'payer');
  return (payees.length > 0 ? payees : ibans).every(({ iban }) => iban === '');
}

function judgeAnswer({ banks }: RowToJudge, { iban, column, answer }: IbanCell, report: Report): Judgement {
  const text = 'The IBAN is well-formed, but the service';
  if (answer?.kind !== 'answered') {
    const nationalCheck = checkNationally(iban, banks);
    if (answer?.kind === 'failed') {
      report('SERVICE_FAILED', column, `${text} failed (${answer.code}).`);
      return { status: 'FAILED', nationalCheck, iban };
    }
    if (answer?.reason != null) report('NOT_CHECKED', column, `${text} was not asked: ${answer.reason}.`);
    return { status: 'NOT_CHECKED', nationalCheck, iban };
  }
  const { valid, bank, bic, nationalCheck = checkNationally(iban, banks) } = answer;
  if (nationalCheck === 'FAILED') {
    const message = 'The national check digits do not match: confirm the IBAN with the payee; banks have exemptions.';
    report('NATIONAL_CHECK_FAILED', column, message);
  }
  if (!valid) report('REJECTED_BY_SERVICE', column, `${text} says that it is not valid.`);
  return { status: valid ? 'VALID' : 'INVALID', nationalCheck, bank: bank ?? '', bic: bic ?? '', iban };
}

function judgeBic({ cells, banks }: RowToJudge, { iban, bic: column, answer }: IbanCell, report: Report) {
  const bic = column === null ? '' : readBicCell(cells[column]);
  if (bic === '') return '';
  const [problem] = findBicProblems(bic);
  if (problem !== undefined) {
    report(`BIC_${problem}`, column, describeBicProblem(problem, bic));
    return 'UNKNOWN';
  }
  const known = knownBics(iban, answer, banks);
  const match = matchBic(bic, known);
  if (match === 'OTHER_BANK') {
    const message = 'The BIC is of another bank than the IBAN, as far as the bank lists tell; the IBAN decides.';
    report('BIC_OF_OTHER_BANK', column, message, known[0]);
  }
  return match;
}

/** IBANs in other cells must not pass for checked ones. */
function findUncheckedIbans({ cells, columns, ibans }: RowToJudge, report: Report): void {
  if (!columns.isWhole) return;
  const checkedColumns = new Set(ibans.map(({ column }) => column));
  const checkedIbans = new Set(ibans.map(({ iban }) => iban));
  const { earlierResult, titles } = columns;
  for (const [column, cell] of cells.entries()) {
    if (typeof cell !== 'string' || cell.length < shortestIban) continue;
    const isEarlierResult = earlierResult !== null && column >= earlierResult && column < titles.length;
    if (checkedColumns.has(column) || isEarlierResult) continue;
    const found = findValidIbans(cell).filter((iban) => !checkedIbans.has(iban));
    // In a table of which no cell is checked, also those that are wrong.
    if (found.length === 0 && (columns.ibans.length > 0 || !looksLikeIban(cell))) continue;
    const message =
      'The cell has an IBAN, but its column is not checked: name the column, or give it a title such as IBAN.';
    report('IBAN_NOT_CHECKED', column, message);
  }
}
