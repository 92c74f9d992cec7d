import { type Failure, unreachable } from '../failure.ts';
import { compactIban, formatIban } from './iban-text.ts';
import { attention, type RowKind } from './list-rows.ts';

/** A row of a table, or a finding of a payment message. */
export interface FileRow {
  /** Position in the answer. */
  index: number;
  kind: RowKind;
  /** The number of the row, or of the line, in the file, from 1. */
  position: number;
  /** The IBAN; if it is not well-formed, the cells of the row; the payment of a message. */
  typed: string;
  /** The name of the payee; empty if there is none. */
  payee: string;
  /** Why it needs attention; empty if it does not. */
  problem: string;
  /** Name and BIC; empty if they are not known. */
  bank: string;
  suggestions: readonly string[];
}

export interface FileToCheck {
  content: Blob;
  /** Title, letter or number; empty: found by content. */
  column: string;
  bicColumn: string;
}

/**
 * Checks a file with `POST /check`, whose verdicts are those of `ledgerquill check`.
 * @param onRow called for each row as it arrives
 * @param onSummary called with what a payment message has, at its end
 * @returns why the check was not completed, null if it was; and the bank lists that its IBANs were compared with, but are out of date
 */
export async function checkFile(
  file: FileToCheck,
  signal: AbortSignal,
  onRow: (row: FileRow) => void,
  onSummary: (text: string) => void,
): Promise<{ failure: Failure | null; outdatedLists: readonly string[] }> {
  const countries = new Set<string>();
  try {
    const response = await send(file, 'application/x-ndjson', signal);
    if (!response.ok || response.body === null) return { failure: await readRefusal(response), outdatedLists: [] };
    const outdated = (response.headers.get('outdated-bank-lists') ?? '').split(',').map((list) => list.split('='));
    const outdatedLists = () =>
      outdated.flatMap(([country = '', date]) => (countries.has(country) ? [`${country} of ${date}`] : []));
    let index = 0;
    for await (const text of readLines(response.body)) {
      const line: Line = JSON.parse(text);
      if ('error' in line) {
        const message = toPageText(line.error.message);
        return { failure: { message, isRetryable: false }, outdatedLists: outdatedLists() };
      }
      if ('cells' in line) {
        for (const { iban } of [line, ...(line.others ?? [])]) if (iban) countries.add(iban.slice(0, 2));
      }
      if ('summary' in line) {
        onSummary(line.summary.text);
        continue;
      }
      onRow(toFileRow(line, index));
      index += 1;
    }
    return { failure: null, outdatedLists: outdatedLists() };
  } catch {
    return { failure: unreachable, outdatedLists: [] };
  }
}

/** The rows of the file with the columns that `ledgerquill check` adds; a failure if it could not be completed. */
export async function fetchCheckedFile(file: FileToCheck): Promise<Blob | Failure> {
  try {
    const response = await send(file, 'text/csv', null);
    return response.ok ? await response.blob() : await readRefusal(response);
  } catch {
    return unreachable;
  }
}

/** The cells of a pasted table with the payees' IBANs, as they are written there; null if `POST /check` finds no such column. */
export async function readIbanColumn(text: string): Promise<readonly string[] | null> {
  const rows: TableRow[] = [];
  try {
    const response = await send({ content: new Blob([text]), column: '', bicColumn: '' }, 'application/x-ndjson', null);
    if (!response.ok || response.body === null) return null;
    for await (const text of readLines(response.body)) {
      const line: Line = JSON.parse(text);
      if ('cells' in line) rows.push(line);
    }
  } catch {
    return null;
  }
  // The answer has no position of the column: it is where a well-formed IBAN is.
  const [column = -1] = rows.flatMap(({ iban, cells }) =>
    iban ? [cells.findIndex((cell) => compactIban(String(cell)).includes(iban))] : [],
  );
  return column < 0 ? null : rows.map(({ cells }) => String(cells[column] ?? '')).filter((cell) => cell.trim() !== '');
}

function send({ content, column, bicColumn }: FileToCheck, accept: string, signal: AbortSignal | null) {
  const named = Object.entries({ column, bicColumn }).filter(([, name]) => name.trim() !== '');
  return fetch(`/check?${new URLSearchParams(named)}`, {
    method: 'POST',
    // The gateway recognizes the file by its content.
    headers: { accept, 'content-type': 'application/octet-stream' },
    body: content,
    signal,
  });
}

async function readRefusal(response: Response): Promise<Failure> {
  const { errors }: { errors?: readonly { message: string }[] } = await response.json();
  return { message: toPageText(errors?.[0]?.message ?? unreachable.message), isRetryable: false };
}

/** Messages name a parameter of the URL; the page has a field for it. */
function toPageText(message: string): string {
  return message.replace('with ?column=', 'in “Column with the IBANs”');
}

async function* readLines(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

/** A line of the answer; `GET /check/openapi.json` describes it. */
type Line = TableRow | MessageFinding | { summary: { text: string } } | { error: { message: string } };

interface TableRow extends Verdict {
  row: number;
  name: string | null;
  cells: readonly (string | number)[];
  /** For further columns with IBANs. */
  others?: readonly Verdict[];
}

interface Verdict {
  status: 'VALID' | 'INVALID' | 'EMPTY' | 'NOT_CHECKED' | 'FAILED';
  /** The column, of a table with several columns of IBANs. */
  column?: string;
  /** Separated by spaces. */
  suggestion?: string | null;
  bank?: string | null;
  bic?: string | null;
  iban?: string | null;
  findings: readonly { severity: Severity; message: string }[];
}

type Severity = (typeof severities)[number];

interface MessageFinding {
  code: string;
  severity: Severity;
  line: number;
  xpath: string;
  /** Null: it is about the whole file. */
  batch: string | null;
  payee: string | null;
  amount: string | null;
  end_to_end_id: string | null;
  message: string;
  suggestion: string | null;
}

function toFileRow(line: TableRow | MessageFinding, index: number): FileRow {
  if ('xpath' in line) {
    const { code, severity, line: position, message, suggestion } = line;
    // One that differs from what was written by a typing error is a guess, as in tables.
    const isGuess = code !== 'IBAN_NOT_COMPACT' && /^[A-Z]{2}\d{2}[A-Z\d]{11,30}$/.test(suggestion ?? '');
    const label = code === 'PAYEE_NAME_SIMILAR' ? 'The bank writes' : 'Right would be';
    return {
      index,
      kind: kindOfSeverity[severity],
      position,
      typed: describePayment(line),
      payee: '',
      problem: suggestion === null || isGuess ? message : `${message} ${label}: ${suggestion}`,
      bank: '',
      suggestions: suggestion === null || !isGuess ? [] : [suggestion],
    };
  }
  const verdicts = [line, ...(line.others ?? [])];
  const [kind = 'missing'] = verdicts.map(kindOf).toSorted((one, other) => attention[one] - attention[other]);
  return {
    index,
    kind,
    position: line.row,
    typed: line.iban ? formatIban(line.iban) : line.cells.filter((cell) => cell !== '').join(' · '),
    payee: line.name ?? '',
    problem: verdicts.flatMap(describeFindings).join(' '),
    bank: [line.bank, line.bic && `BIC ${line.bic}`].filter(Boolean).join(', '),
    suggestions: verdicts.flatMap(({ suggestion }) => suggestion?.split(' ') ?? []),
  };
}

/** In the words of the command on a terminal. */
function describePayment({ xpath, batch, payee, amount, end_to_end_id }: MessageFinding): string {
  const payment = [payee, amount, end_to_end_id];
  const isOfPayment = payment.some((text) => text !== null) || (batch !== null && /TxInf\[\d+\]/.test(xpath));
  if (isOfPayment) return payment.map((text) => text ?? '-').join(' · ');
  return batch === null ? 'the whole file' : `all payments of the batch ${batch}`;
}

function kindOf({ status, bank, findings }: Verdict): RowKind {
  if (status === 'INVALID') return 'invalid';
  if (status === 'FAILED') return 'failed';
  if (status === 'NOT_CHECKED') return 'waiting';
  // An empty cell is a finding unless another column has an IBAN.
  if (status === 'EMPTY') return findings.length > 0 ? 'missing' : 'valid';
  const worst = severities.find((each) => findings.some(({ severity }) => severity === each));
  if (worst !== undefined) return kindOfSeverity[worst];
  return bank ? 'valid' : 'unknown';
}

const severities = ['error', 'warning', 'hint'] as const;
const kindOfSeverity = { error: 'error', warning: 'warning', hint: 'noted' } as const;

function describeFindings({ column, findings }: Verdict): string[] {
  return findings.map(({ message }) => {
    const text = toPageText(message);
    return column === undefined ? text : `${column}: ${text}`;
  });
}

/** Such as payees-checked.csv. */
export function nameCheckedFile(name: string): string {
  return `${name.replace(/\.\w+$/, '')}-checked.csv`;
}
