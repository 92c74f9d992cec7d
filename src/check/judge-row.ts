import { type BicMatch, matchBic } from '../banks/match-bic.ts';
import { describeBicProblem, findBicProblems } from '../iban/bic.ts';
import type { CheckResult } from '../iban/german-account-checks.ts';
import { describeIbanProblem, findIbanProblems } from '../iban/iban.ts';
import { suggestIbans } from '../iban/suggest-ibans.ts';
import type { Answer } from './answers/answer-source.ts';
import { type BankFacts, checkNationally, knownBics } from './bank-facts.ts';
import type { Columns, IbanColumn } from './find-columns.ts';
import { columnLetters } from './find-columns.ts';
import type { Finding, Severity } from './finding.ts';
import { type Cells, findValidIbans, isShortenedNumber, looksLikeIban, readBicCell } from './iban-cells.ts';

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
export function judgeRow({ row, cells, columns, ibans, banks }: RowToJudge): RowResult {
  const findings: Finding[] = [];
  const width = columns.titles.length;
  if (cells.length > width && ibans.length > 0) {
    const message = `The row has ${cells.length} cells, but the table ${width} columns; a cell may contain a delimiter without quotation marks.`;
    findings.push(createFinding('ROW_TOO_LONG', 'warning', null, message));
  }
  // The payer's account does not pay the payee without an account.
  const needed = ibans.filter(({ party }) => party !== 'payer');
  const isMissing = (needed.length > 0 ? needed : ibans).every(({ iban }) => iban === '');
  const results = ibans.map((each, index) => judgeCell(each, isMissing && index === 0));
  addUncheckedIbans();
  return { cells: results, findings };

  function judgeCell(cell: IbanCell, isMissing: boolean): CellResult {
    const own: Finding[] = [];
    const { column, iban, answer, isRepeated } = cell;
    const add = (code: string, severity: Severity, at: number | null, message: string, suggestion?: string | null) =>
      own.push(createFinding(code, severity, at, message, suggestion));
    const judgement = answer === null ? judgeAlone() : judgeAnswer(answer);
    return { ...empty, column, isRepeated, ...judgement, bicMatch: judgeBic(), findings: own };

    /** What arithmetic tells. */
    function judgeAlone(): Judgement {
      if (iban === '') {
        if (isMissing) add('IBAN_MISSING', 'warning', column, 'The row has no IBAN.');
        return { status: 'EMPTY' };
      }
      if (isShortenedNumber(cells[column])) {
        const message =
          'A spreadsheet has shortened this number: format the column as text, and paste the IBANs again.';
        add('NUMBER_SHORTENED', 'error', column, message);
        return { status: 'INVALID' };
      }
      const suggestions = suggestIbans(iban, { isKnownBank: banks.has });
      const suggestion = suggestions.join(' ') || null;
      for (const problem of findIbanProblems(iban)) {
        add(problem, 'error', column, describeIbanProblem(problem, iban), suggestion);
      }
      return { status: 'INVALID', suggestions };
    }

    function judgeAnswer(known: Answer): Judgement {
      const text = 'The IBAN is well-formed, but the service';
      if (known.kind !== 'answered') {
        const hasFailed = known.kind === 'failed';
        if (hasFailed) add('SERVICE_FAILED', 'error', column, `${text} failed (${known.code}).`);
        else add('NOT_CHECKED', 'error', column, `${text} was not asked: ${known.reason}.`);
        return { status: hasFailed ? 'FAILED' : 'NOT_CHECKED', nationalCheck: checkNationally(iban, banks), iban };
      }
      const { valid, bank, bic, nationalCheck = checkNationally(iban, banks) } = known;
      if (nationalCheck === 'FAILED') {
        const message =
          'The national check digits do not match: confirm the IBAN with the payee; banks have exemptions.';
        add('NATIONAL_CHECK_FAILED', 'hint', column, message);
      }
      if (!valid) add('REJECTED_BY_SERVICE', 'error', column, `${text} says that it is not valid.`);
      return { status: valid ? 'VALID' : 'INVALID', nationalCheck, bank: bank ?? '', bic: bic ?? '', iban };
    }

    function judgeBic(): CellResult['bicMatch'] {
      const bic = cell.bic === null ? '' : readBicCell(cells[cell.bic]);
      if (bic === '') return '';
      const [problem] = findBicProblems(bic);
      if (problem !== undefined) {
        add(`BIC_${problem}`, 'error', cell.bic, describeBicProblem(problem, bic));
        return 'UNKNOWN';
      }
      const known = knownBics(iban, answer, banks);
      const match = matchBic(bic, known);
      if (match === 'OTHER_BANK') {
        const message = 'The BIC is of another bank than the IBAN, as far as the bank lists tell; the IBAN decides.';
        add('BIC_OF_OTHER_BANK', 'hint', cell.bic, message, known[0] ?? null);
      }
      return match;
    }
  }

  /** IBANs in other cells must not pass for checked ones. */
  function addUncheckedIbans(): void {
    if (!columns.isWhole) return;
    for (const [column, cell] of cells.entries()) {
      if (typeof cell !== 'string' || cell.length < shortestIban) continue;
      if (ibans.some((each) => each.column === column) || isEarlierResult(column)) continue;
      const found = findValidIbans(cell).filter((iban) => !ibans.some((each) => each.iban === iban));
      // Of a table in which no cell is checked, also those that are wrong.
      if (found.length === 0 && (columns.ibans.length > 0 || !looksLikeIban(cell))) continue;
      const message =
        'The cell has an IBAN, but its column is not checked: name the column with --column, or give it a title such as IBAN.';
      findings.push(createFinding('IBAN_NOT_CHECKED', 'warning', column, message));
    }
  }

  function isEarlierResult(column: number): boolean {
    return columns.earlierResult !== null && column >= columns.earlierResult && column < width;
  }

  function createFinding(
    code: string,
    severity: Severity,
    column: number | null,
    message: string,
    suggestion: string | null = null,
  ): Finding {
    const title = column === null ? null : (columns.titles[column] ?? columnLetters(column));
    return { code, severity, place: { row, column: title }, message, suggestion };
  }
}

/** Norwegian IBANs have 15 characters. */
const shortestIban = 15;

const empty = { suggestions: [], bank: '', bic: '', nationalCheck: '', iban: '' } as const;

type Judgement = Pick<CellResult, 'status'> & Partial<CellResult>;
