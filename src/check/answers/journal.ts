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
  /** Of the files that are checked; null if they cannot be read before, as standard input. */
  contentHash: string | null;
  /** Whether it may have answers of an earlier run. */
  isResumed: boolean;
  /** Receives the answers of the earlier run. */
  keep: KeepAnswer;
}

/**
 * Creates a journal, or continues that of an earlier run. It belongs to the content of the files: without `isResumed`, that of another
 * content is replaced.
 * @throws PaymentFileError if there is one that is not to be resumed, is of another source, or cannot be written
 */
export function openJournal({ path, sourceId, contentHash, isResumed, keep }: JournalOptions): Journal {
  if (existsSync(path) && !isResumed) replaceJournal(path, sourceId, contentHash);
  let file = tryToWrite(`the journal ${path}`, () => openSync(path, 'a+', 0o600));
  const header = `${JSON.stringify({ journal: version, source: sourceId, content: contentHash })}\n`;
  const { length: found, content } = readAnswers(file, path, sourceId, keep);
  if (found > 0) ftruncateSync(file, found);
  if (found === 0 || content !== contentHash) writeSync(file, header);

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

/** @throws PaymentFileError if it may be of the same content */
function replaceJournal(path: string, sourceId: string, contentHash: string | null): void {
  const file = openSync(path, 'r');
  let former: string | null = null;
  try {
    former = readAnswers(file, path, sourceId, () => {}).content;
  } catch (error) {
    if (!(error instanceof PaymentFileError)) throw error;
  } finally {
    closeSync(file);
  }
  if (former === null || contentHash === null || former === contentHash) {
    throw new PaymentFileError(
      `${path} has the answers of a run that did not finish, or still runs; add --resume to use them, or delete it to ask again`,
    );
  }
  rmSync(path);
}

/** Increase it when the lines change. */
const version = 2;

/**
 * Reads the answers that were completely written: the last line may have been cut off.
 * @returns their length in bytes, and the content of the last run that wrote into it
 */
function readAnswers(file: number, path: string, sourceId: string, keep: KeepAnswer) {
  const chunk = Buffer.alloc(chunkBytes);
  const read: { length: number; content: string | null } = { length: 0, content: null };
  let rest = Buffer.alloc(0);
  for (let at = 0, bytes = 1; bytes > 0; at += bytes) {
    bytes = readSync(file, chunk, 0, chunkBytes, at);
    const text = Buffer.concat([rest, chunk.subarray(0, bytes)]);
    const end = text.lastIndexOf(0x0a) + 1;
    rest = Buffer.from(text.subarray(end));
    for (const line of end === 0 ? [] : text.toString('utf8', 0, end - 1).split('\n')) {
      // Each run with another content begins with a header.
      if (read.length === 0 || line.startsWith('{')) read.content = readHeader(line, path, sourceId);
      else keepLine(line, path, keep);
      read.length += Buffer.byteLength(line) + 1;
    }
  }
  return read;
}

const chunkBytes = 1_048_576;

const headerLine = z.object({ journal: z.literal(version), source: z.string(), content: z.string().nullable() });

function readHeader(line: string, path: string, sourceId: string): string | null {
  try {
    const { source, content } = headerLine.parse(JSON.parse(line));
    if (source === sourceId) return content;
  } catch {
    // It is of another version, or no journal.
  }
  throw otherJournal(path);
}

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
