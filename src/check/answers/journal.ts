import { closeSync, existsSync, ftruncateSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import * as z from 'zod';
import { PaymentFileError } from '../open-file.ts';
import { tryToWrite } from '../output.ts';
import type { Answer } from './answer-source.ts';

/**
 * The answers of a run, on disk as soon as they arrive, so that a run that was killed can be resumed without asking again. It has
 * no IBANs, but their fingerprints, from which IBANs can be found by trial: only its owner can read it.
 */
export interface Journal {
  append(fingerprint: string, answer: Answer): void;
  close(): void;
  /** Closes it, and deletes the file, as `close` does if it has no answers. */
  remove(): void;
}

type KeepAnswer = (fingerprint: string, answer: Answer) => void;

interface JournalOptions {
  path: string;
  /** The answers in it must be of this source. */
  sourceId: string;
  /** Whether it may have answers of an earlier run. */
  isResumed: boolean;
  /** Receives the answers of the earlier run. */
  keep: KeepAnswer;
}

/**
 * Creates a journal, or continues that of an earlier run.
 * @throws PaymentFileError if there is one that is not to be resumed, is of another source, or cannot be written
 */
export function openJournal({ path, sourceId, isResumed, keep }: JournalOptions): Journal {
  if (existsSync(path) && !isResumed) {
    throw new PaymentFileError(
      `${path} has the answers of a run that did not finish; add --resume to use them, or delete it to ask again`,
    );
  }
  let file = tryToWrite(`the journal ${path}`, () => openSync(path, 'a+', 0o600));
  const header = `${JSON.stringify({ journal: version, source: sourceId })}\n`;
  const found = readAnswers(file, path, header, keep);
  if (found === 0) writeSync(file, header, 0);
  else ftruncateSync(file, found);

  let isEmpty = found <= header.length;
  const close = () => {
    if (file < 0) return;
    closeSync(file);
    file = -1;
    if (isEmpty) rmSync(path, { force: true });
  };
  return {
    append(fingerprint, answer) {
      const { kind: _, ...content } = answer;
      // A whole line in one write, at the end: what a killed process has written remains.
      isEmpty = false;
      const line = `${fingerprint} ${JSON.stringify(content)}\n`;
      tryToWrite(`the journal ${path}`, () => writeSync(file, line));
    },
    close,
    remove() {
      close();
      rmSync(path, { force: true });
    },
  };
}

/** Increase it when the lines change. */
const version = 1;

/** Reads all whole lines: the last one may have been cut off. @returns their length in bytes */
function readAnswers(file: number, path: string, header: string, keep: KeepAnswer): number {
  const chunk = Buffer.alloc(chunkBytes);
  let rest = Buffer.alloc(0);
  let length = 0;
  let isFirst = true;
  for (let at = 0, bytes = 1; bytes > 0; at += bytes) {
    bytes = readSync(file, chunk, 0, chunkBytes, at);
    const text = Buffer.concat([rest, chunk.subarray(0, bytes)]);
    const end = text.lastIndexOf(0x0a) + 1;
    rest = Buffer.from(text.subarray(end));
    length += end;
    for (const line of end === 0 ? [] : text.toString('utf8', 0, end - 1).split('\n')) {
      if (isFirst && `${line}\n` !== header) throw otherJournal(path);
      if (!isFirst) keepLine(line, path, keep);
      isFirst = false;
    }
  }
  return length;
}

const chunkBytes = 1_048_576;

function otherJournal(path: string): PaymentFileError {
  return new PaymentFileError(
    `${path} has no answers of this service or gateway; use the options and variables of the run that wrote it, or delete it`,
  );
}

const journaledAnswer = z.object({
  valid: z.boolean(),
  bank: z.string().nullable(),
  bic: z.string().nullable(),
  nationalCheck: z.enum(['PASSED', 'FAILED', 'NOT_APPLICABLE']).optional(),
});

function keepLine(line: string, path: string, keep: KeepAnswer): void {
  const fingerprint = line.slice(0, line.indexOf(' '));
  try {
    const { nationalCheck, ...answer } = journaledAnswer.parse(JSON.parse(line.slice(line.indexOf(' '))));
    if (!/^[0-9a-f]{24}$/.test(fingerprint)) throw new Error('not a fingerprint');
    keep(fingerprint, { kind: 'answered', ...answer, ...(nationalCheck && { nationalCheck }) });
  } catch {
    throw new PaymentFileError(`${path} is damaged; delete it to ask again`);
  }
}
