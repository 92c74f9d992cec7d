import { type BicMatch, matchBic } from '../banks/match-bic.ts';
import { compactBic, describeBicProblem, findBicProblems } from '../iban/bic.ts';
import type { CheckResult } from '../iban/german-account-checks.ts';
import { compactIban, describeIbanProblem, findIbanProblems } from '../iban/iban.ts';
import { suggestIbans } from '../iban/suggest-ibans.ts';
import type { Answer } from './answers/answer-source.ts';
import { type BankFacts, checkNationally, knownBics } from './bank-facts.ts';
import type { Cells, Columns } from './find-columns.ts';
import type { Finding, Severity } from './finding.ts';

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
  const iban = compactIban(String(cells[columns.iban] ?? ''));
  const width = columns.titles.length;
  if (cells.length > width) {
    const message = `The row has ${cells.length} cells, but the table ${width} columns; a cell may contain a delimiter without quotation marks.`;
    add('ROW_TOO_LONG', 'warning', null, message);
  }
  const judgement = answer === null ? judgeAlone() : judgeAnswer(answer);
  return { ...empty, ...judgement, bicMatch: judgeBic(), findings };

  /** What arithmetic tells. */
  function judgeAlone(): Judgement {
    if (iban === '') {
      add('IBAN_MISSING', 'warning', columns.iban, 'The row has no IBAN.');
      return { status: 'EMPTY' };
    }
    const suggestions = suggestIbans(iban, { isKnownBank: banks.has });
    const suggestion = suggestions.join(' ') || null;
    for (const problem of findIbanProblems(iban)) {
      add(problem, 'error', columns.iban, describeIbanProblem(problem, iban), suggestion);
    }
    return { status: 'INVALID', suggestions };
  }

  function judgeAnswer(known: Answer): Judgement {
    const text = 'The IBAN is well-formed, but the service';
    if (known.kind !== 'answered') {
      const hasFailed = known.kind === 'failed';
      if (hasFailed) add('SERVICE_FAILED', 'error', columns.iban, `${text} failed (${known.code}).`);
      else add('NOT_CHECKED', 'error', columns.iban, `${text} was not asked: ${known.reason}.`);
      return { status: hasFailed ? 'FAILED' : 'NOT_CHECKED', nationalCheck: checkNationally(iban, banks), iban };
    }
    const { valid, bank, bic, nationalCheck = checkNationally(iban, banks) } = known;
    if (nationalCheck === 'FAILED') {
      const message = 'The national check digits do not match: confirm the IBAN with the payee; banks have exemptions.';
      add('NATIONAL_CHECK_FAILED', 'hint', columns.iban, message);
    }
    if (!valid) add('REJECTED_BY_SERVICE', 'error', columns.iban, `${text} says that it is not valid.`);
    return { status: valid ? 'VALID' : 'INVALID', nationalCheck, bank: bank ?? '', bic: bic ?? '', iban };
  }

  function judgeBic(): RowResult['bicMatch'] {
    const bic = columns.bic === null ? '' : compactBic(String(cells[columns.bic] ?? ''));
    if (bic === '') return '';
    const [problem] = findBicProblems(bic);
    if (problem !== undefined) {
      add(`BIC_${problem}`, 'error', columns.bic, describeBicProblem(problem, bic));
      return 'UNKNOWN';
    }
    const known = knownBics(iban, answer, banks);
    const match = matchBic(bic, known);
    if (match === 'OTHER_BANK') {
      const message = 'The BIC is of another bank than the IBAN, as far as the bank lists tell; the IBAN decides.';
      add('BIC_OF_OTHER_BANK', 'hint', columns.bic, message, known[0] ?? null);
    }
    return match;
  }

  function add(
    code: string,
    severity: Severity,
    column: number | null,
    message: string,
    suggestion: string | null = null,
  ): void {
    const place = { row, column: column === null ? null : (columns.titles[column] ?? null) };
    findings.push({ code, severity, place, message, suggestion });
  }
}

const empty = { suggestions: [], bank: '', bic: '', nationalCheck: '', iban: '' } as const;

type Judgement = Pick<RowResult, 'status'> & Partial<RowResult>;
