import { useRef, useState } from 'react';
import { checkFile, type FileRow, fetchCheckedFile, nameCheckedFile } from './check-file.ts';
import { saveFile } from './save-file.ts';
import { storedText } from './stored-text.ts';

interface OpenFile {
  /** Null for a pasted table. */
  name: string | null;
  content: Blob;
}

export interface FileCheck {
  file: OpenFile | null;
  /** By title, letter or number; empty: found by content. */
  column: string;
  bicColumn: string;
  /** In the order of the file; null before a check. */
  rows: readonly FileRow[] | null;
  /** What a payment message has, of which the rows are findings; null for a table. */
  summary: string | null;
  /** Rows of the running check that have arrived. */
  arrived: number;
  isRunning: boolean;
  /** Bank lists that the rows were compared with, but are out of date, such as `FR of 2024-09-23`. */
  outdatedLists: readonly string[];
  /** Why the last check, or download, was not completed. */
  problem: string | null;
  open(file: File): void;
  paste(text: string): void;
  close(): void;
  nameColumns(names: { column?: string; bicColumn?: string }): void;
  start(): Promise<void>;
  cancel(): void;
  download(): Promise<void>;
}

/** A file is only in the memory of the page; a pasted table also in sessionStorage. */
export function useFileCheck(): FileCheck {
  const [file, setFile] = useState<OpenFile | null>(readStored);
  const [names, setNames] = useState(noNames);
  const [rows, setRows] = useState<readonly FileRow[] | null>(null);
  const [summary, setSummary] = useState<string | null>(null);
  const [arrived, setArrived] = useState(0);
  const [isRunning, setIsRunning] = useState(false);
  const [outdatedLists, setOutdatedLists] = useState<readonly string[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const controller = useRef(new AbortController());

  function reset() {
    controller.current.abort();
    setRows(null);
    setSummary(null);
    setIsRunning(false);
    setOutdatedLists([]);
    setProblem(null);
  }

  function replaceFile(next: OpenFile | null, textToStore = '') {
    reset();
    setFile(next);
    setNames(noNames);
    stored.write(textToStore);
  }

  return {
    file,
    ...names,
    rows,
    summary,
    arrived,
    isRunning,
    outdatedLists,
    problem,
    open(opened) {
      const isReadable = !withoutRows.test(opened.type);
      replaceFile(isReadable ? { name: opened.name, content: opened } : null);
      if (!isReadable) setProblem(`${opened.name} has no rows that can be read: choose a CSV, TSV or XML file.`);
    },
    paste: (text) => replaceFile(toPasted(text), text),
    close: () => replaceFile(null),
    nameColumns(changed) {
      reset();
      setNames((earlier) => ({ ...earlier, ...changed }));
    },
    async start() {
      if (file === null) return;
      reset();
      controller.current = new AbortController();
      const { signal } = controller.current;
      setIsRunning(true);
      setArrived(0);
      const received: FileRow[] = [];
      const onRow = (row: FileRow) => {
        received.push(row);
        if (received.length % rowsPerUpdate === 0 && !signal.aborted) setArrived(received.length);
      };
      const onSummary = (text: string) => {
        if (!signal.aborted) setSummary(text);
      };
      const checked = await checkFile({ content: file.content, ...names }, signal, onRow, onSummary);
      const { failure, outdatedLists } = checked;
      // Another check may be running since then.
      if (signal.aborted) return;
      setIsRunning(false);
      setOutdatedLists(outdatedLists);
      setProblem(failure?.message ?? null);
      if (failure === null || received.length > 0) setRows(received);
    },
    cancel: reset,
    async download() {
      if (file === null) return;
      const checked = await fetchCheckedFile({ content: file.content, ...names });
      if (checked instanceof Blob) saveFile(nameCheckedFile(file.name ?? 'table.csv'), checked);
      else setProblem(checked.message);
    },
  };
}

/** Types of files, by their names, that need no request to be refused. */
const withoutRows = /^(?:image|audio|video)\/|^application\/pdf$/;

const noNames = { column: '', bicColumn: '' };

const rowsPerUpdate = 1_000;

const stored = storedText('pasted-table');

function readStored(): OpenFile | null {
  const text = stored.read();
  return text === '' ? null : toPasted(text);
}

function toPasted(text: string): OpenFile {
  return { name: null, content: new Blob([text]) };
}
