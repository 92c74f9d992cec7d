import { useMemo, useRef, useState } from 'react';
import type { Failure } from '../failure.ts';
import { type BicMatch, findBicProblem, matchBic } from './bic.ts';
import { checkInChunks } from './check-in-chunks.ts';
import { nameCheckedFile, writeCheckedFile } from './checked-file.ts';
import type { Format, IbanAnswer, IbanClient } from './iban-client.ts';
import { compactIban } from './iban-text.ts';
import { createRow, type ListRow } from './list-rows.ts';
import { saveFile } from './save-file.ts';
import { storedText } from './stored-text.ts';
import {
  findBicColumn,
  findColumns,
  findNameColumn,
  findTitleRow,
  isBlank,
  nameColumns,
  readTable,
  type TextTable,
} from './text-table.ts';
import { useFormats } from './use-formats.ts';

/** A row with data. */
export interface FileRow extends ListRow {
  /** Of the row in the file, from 0. */
  position: number;
  /** The name of the payee; empty if there is none. */
  payee: string;
  /** Compacted; empty if there is none. */
  bic: string;
  /** Empty without a BIC. */
  bicMatch: BicMatch | '';
  /** Whether a suggestion has replaced its IBAN. */
  isCorrected: boolean;
}

interface OpenFile {
  /** Null for a pasted table. */
  name: string | null;
  table: TextTable;
}

/** Why some IBANs were not checked. */
interface Shortfall {
  failure: Failure;
  failedRequests: number;
  requests: number;
}

export interface FileCheck {
  file: OpenFile | null;
  /** Why a file could not be opened. */
  problem: string | null;
  /** The name of each column. */
  columns: readonly string[];
  /** Position of the IBANs; null if no column has any. */
  column: number | null;
  /** Position of the BICs; null if there are none. */
  bicColumn: number | null;
  /** The names of other columns with IBANs. */
  otherColumns: readonly string[];
  /** In the order of the file. */
  rows: readonly FileRow[];
  /** The same rows before corrections: a row keeps its place when it is corrected. */
  returnedRows: readonly FileRow[];
  /** Different IBANs of the file, and how many of them have an answer. */
  total: number;
  answered: number;
  isRunning: boolean;
  /** After a check of which requests failed. */
  shortfall: Shortfall | null;
  open(file: File): Promise<void>;
  paste(text: string): void;
  close(): void;
  chooseColumn(column: number): void;
  /** @param column null: none */
  chooseBicColumn(column: number | null): void;
  /** Checks the IBANs that have no answer yet. */
  start(): Promise<void>;
  cancel(): void;
  correct(index: number, iban: string): void;
  download(): void;
}

/** A file is only in the memory of the page; a pasted table also in sessionStorage. */
export function useFileCheck(ibans: IbanClient): FileCheck {
  const formats = useFormats(ibans);
  const [file, setFile] = useState<OpenFile | null>(readStored);
  const [problem, setProblem] = useState<string | null>(null);
  const [chosenColumn, setChosenColumn] = useState<number | null>(null);
  /** Undefined: found by its content. */
  const [chosenBicColumn, setChosenBicColumn] = useState<number | null>();
  const [states, setStates] = useState<ReadonlyMap<string, IbanAnswer>>(new Map());
  const [corrections, setCorrections] = useState<ReadonlyMap<number, string>>(new Map());
  const [isRunning, setIsRunning] = useState(false);
  const [shortfall, setShortfall] = useState<Shortfall | null>(null);
  const controller = useRef(new AbortController());

  const layout = useMemo(
    () => findLayout(file, formats, chosenColumn, chosenBicColumn),
    [file, formats, chosenColumn, chosenBicColumn],
  );
  const entries = useMemo(() => readEntries(file, layout), [file, layout]);
  const returnedRows = useMemo(
    () => entries.map((entry, index) => createFileRow(entry, index, states.get(entry.iban))),
    [entries, states],
  );
  const rows = useMemo(() => {
    if (corrections.size === 0) return returnedRows;
    return returnedRows.map((row, index) => {
      const iban = corrections.get(index);
      if (iban === undefined) return row;
      return { ...createFileRow({ ...row, typed: iban, iban }, index, states.get(iban)), isCorrected: true };
    });
  }, [returnedRows, corrections, states]);
  const distinct = useMemo(() => distinctIbans(rows), [rows]);
  const unanswered = distinct.filter(({ iban }) => !hasAnswer(states.get(iban)));

  function replaceFile(next: OpenFile | null) {
    controller.current.abort();
    setFile(next);
    setProblem(null);
    setChosenColumn(null);
    setChosenBicColumn(undefined);
    setStates(new Map());
    setCorrections(new Map());
    setIsRunning(false);
    setShortfall(null);
  }

  async function check(items: readonly { iban: string; reference: string }[], signal: AbortSignal) {
    const known = await ibans.formats();
    if (signal.aborted) return null;
    if ('failure' in known) return { chunks: 1, failures: [known.failure] };
    return checkInChunks({
      items,
      size: known.value.limits.ibans,
      check: ibans.check,
      onAnswers: (answers) => setStates((earlier) => new Map([...earlier, ...answers])),
      signal,
    });
  }

  return {
    file,
    problem,
    columns: layout.names,
    column: layout.column,
    bicColumn: layout.bicColumn,
    otherColumns: layout.others.map((column) => layout.names[column] ?? ''),
    rows,
    returnedRows,
    total: distinct.length,
    answered: distinct.length - unanswered.length,
    isRunning,
    shortfall,
    async open(opened) {
      try {
        const table = readTable(new Uint8Array(await opened.arrayBuffer()), toLengths(formats));
        replaceFile({ name: opened.name, table });
      } catch (error) {
        replaceFile(null);
        setProblem(`${opened.name}: ${(error as Error).message}`);
      }
      stored.write('');
    },
    paste(text) {
      try {
        replaceFile(readPasted(text, toLengths(formats)));
        stored.write(text);
      } catch (error) {
        replaceFile(null);
        setProblem((error as Error).message);
      }
    },
    close() {
      replaceFile(null);
      stored.write('');
    },
    chooseColumn(column) {
      controller.current.abort();
      setIsRunning(false);
      setShortfall(null);
      setCorrections(new Map());
      setChosenColumn(column);
    },
    chooseBicColumn: setChosenBicColumn,
    async start() {
      controller.current = new AbortController();
      const { signal } = controller.current;
      setIsRunning(true);
      setShortfall(null);
      const outcome = await check(unanswered, signal);
      // Another check may be running since then.
      if (outcome === null || signal.aborted) return;
      setIsRunning(false);
      const [failure] = outcome.failures;
      if (failure) setShortfall({ failure, failedRequests: outcome.failures.length, requests: outcome.chunks });
    },
    cancel() {
      controller.current.abort();
      setIsRunning(false);
    },
    correct(index, iban) {
      setCorrections((earlier) => new Map([...earlier, [index, iban]]));
      if (hasAnswer(states.get(iban))) return;
      if (!isRunning) controller.current = new AbortController();
      void check([{ iban, reference: String(index) }], controller.current.signal);
    },
    download() {
      if (file === null || layout.column === null) return;
      const { titleRow, column, names } = layout;
      const content = writeCheckedFile({ table: file.table, titleRow, column, width: names.length, rows });
      saveFile(nameCheckedFile(file.name ?? 'table.csv'), content);
    },
  };
}

const stored = storedText('pasted-table');

function readStored(): OpenFile | null {
  const text = stored.read();
  return text === '' ? null : readPasted(text, new Map());
}

function readPasted(text: string, lengths: ReadonlyMap<string, number>): OpenFile {
  return { name: null, table: readTable(new TextEncoder().encode(text), lengths) };
}

function toLengths(formats: ReadonlyMap<string, Format> | null): ReadonlyMap<string, number> {
  return new Map([...(formats ?? [])].map(([code, { ibanLength }]) => [code, ibanLength]));
}

interface Layout {
  names: readonly string[];
  column: number | null;
  bicColumn: number | null;
  others: readonly number[];
  titleRow: number | null;
}

const noLayout: Layout = { names: [], column: null, bicColumn: null, others: [], titleRow: null };

function findLayout(
  file: OpenFile | null,
  formats: ReadonlyMap<string, Format> | null,
  chosenColumn: number | null,
  chosenBicColumn: number | null | undefined,
): Layout {
  if (file === null) return noLayout;
  const { rows } = file.table;
  const lengths = toLengths(formats);
  const found = findColumns(rows, lengths);
  const column = chosenColumn ?? found.iban;
  const titleRow = findTitleRow(rows, column ?? 0, lengths);
  const names = nameColumns(rows, titleRow);
  const bicColumn =
    chosenBicColumn === undefined ? findBicColumn(rows, names, { titleRow, iban: column }) : chosenBicColumn;
  return { names, column, bicColumn, others: chosenColumn === null ? found.others : [], titleRow };
}

type FileEntry = Pick<FileRow, 'position' | 'payee' | 'bic' | 'typed' | 'iban'>;

function readEntries(file: OpenFile | null, { names, column, bicColumn, titleRow }: Layout): FileEntry[] {
  if (file === null || column === null) return [];
  const nameColumn = findNameColumn(names);
  return file.table.rows.flatMap((cells, position) => {
    if (position <= (titleRow ?? -1) || isBlank(cells)) return [];
    const typed = (cells[column] ?? '').trim();
    const payee = nameColumn === null ? '' : (cells[nameColumn] ?? '').trim();
    const bic = bicColumn === null ? '' : compactIban(cells[bicColumn] ?? '');
    // Longer texts are not IBANs, and the gateway refuses them.
    return [{ position, payee, bic, typed, iban: compactIban(typed).slice(0, 64) }];
  });
}

function createFileRow(entry: FileEntry, index: number, state: IbanAnswer | undefined): FileRow {
  const { position, payee, bic } = entry;
  const row = createRow(entry, index, state ?? 'waiting');
  const bics = state !== undefined && 'facts' in state && state.facts.valid ? state.bics : [];
  const bicMatch = bic === '' ? '' : matchBic(bic, bics);
  const fileRow: FileRow = { ...row, position, payee, bic, bicMatch, isCorrected: false };
  const doubt = describeBicDoubt(fileRow);
  if (doubt === null || !['valid', 'unknown', 'suspicious'].includes(row.kind)) return fileRow;
  return { ...fileRow, kind: 'suspicious', problem: `${row.problem} ${doubt}`.trim() };
}

function describeBicDoubt({ bic, bicMatch }: FileRow): string | null {
  if (bic !== '' && findBicProblem(bic) !== null) return 'Its BIC is not well-formed.';
  return bicMatch === 'OTHER_BANK' ? 'Its BIC is of another bank: confirm both with the payee.' : null;
}

function distinctIbans(rows: readonly FileRow[]): { iban: string; reference: string }[] {
  const references = new Map<string, string>();
  for (const { iban, position } of rows) {
    if (iban !== '' && !references.has(iban)) references.set(iban, String(position + 1));
  }
  return [...references].map(([iban, reference]) => ({ iban, reference }));
}

function hasAnswer(state: IbanAnswer | undefined): boolean {
  return state !== undefined && 'facts' in state;
}
