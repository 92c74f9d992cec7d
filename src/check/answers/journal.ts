import { closeSync, existsSync, ftruncateSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import * as z from 'zod';
import { PaymentFileError } from '../open-file.ts';
import { tryToWrite } from '../output.ts';
import type { Answer } from './answers.ts';

/**
 * The answers of a run, on disk as soon as they arrive, so that a run that was killed can be resumed without asking again. It has
 * no IBANs, but their fingerprints, from which IBANs can be found by trial: only its owner can read it.
 */
export type Journal = ReturnType<typeof openJournal>;

type KeepAnswer = (fingerprint: string, answer: Answer) => void;

interface JournalOptions {
  path: string;
  /** The answers in it must be of this source. */
  sourceId: string;
  /** The hash of the files that are checked; null if they cannot be read before, as standard input. */
  contentHash: string | null;
  /** Whether it may have answers of an earlier run. */
  isResumed: boolean;
  /** Receives the answers of the earlier run. */
  keep: KeepAnswer;
}

/**
 * Creates a journal, or continues that of an earlier run. It belongs to the content of the files: without `isResumed`, that of another
 * content is replaced, and that of the same content is used if its run is over.
 * @throws PaymentFileError if there is one that is not to be resumed, is of another source, or cannot be written
 */
export function openJournal({ path, sourceId, contentHash, isResumed, keep }: JournalOptions) {
  if (existsSync(path) && !isResumed) replaceJournal(path, sourceId, contentHash);
  let file = tryToWrite(`the journal ${path}`, () => openSync(path, 'a+', 0o600));
  const header = { journal: version, source: sourceId, content: contentHash };
  const writeHeader = (isOver: boolean) =>
    void tryToWrite(`the journal ${path}`, () => writeSync(file, `${JSON.stringify({ ...header, isOver })}\n`));
  const { length: found, answers, last } = readAnswers(file, path, sourceId, keep);
  if (found > 0) ftruncateSync(file, found);
  if (last === null || last.content !== contentHash || last.isOver) writeHeader(false);

  let isEmpty = answers === 0;
  const close = () => {
    if (file < 0) return;
    closeSync(file);
    file = -1;
    if (isEmpty) rmSync(path, { force: true });
  };
  return {
    append(fingerprint: string, answer: Answer): void {
      const { kind: _, ...content } = answer;
      // A whole line in one write, at the end: what a killed process has written remains.
      isEmpty = false;
      const line = `${fingerprint} ${JSON.stringify(content)}\n`;
      tryToWrite(`the journal ${path}`, () => writeSync(file, line));
    },
    /** Notes that the run is over, although the files were not read to their ends: another run of them would end in the same way. */
    end: () => writeHeader(true),
    close,
    /** Closes it, and deletes the file, as `close` does if it has no answers. */
    remove(): void {
      close();
      rmSync(path, { force: true });
    },
  };
}

/** Deletes a journal of another content. @throws PaymentFileError if it may be of the same content, and its run is not over */
function replaceJournal(path: string, sourceId: string, contentHash: string | null): void {
  const file = openSync(path, 'r');
  let former: Header | null = null;
  try {
    former = readAnswers(file, path, sourceId, () => {}).last;
  } catch (error) {
    if (!(error instanceof PaymentFileError)) throw error;
  } finally {
    closeSync(file);
  }
  const isOfOther = former?.content != null && contentHash !== null && former.content !== contentHash;
  if (!isOfOther && former?.isOver) return;
  if (!isOfOther) {
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
 * @returns the length of the lines in bytes, the number of answers, and the last header
 */
function readAnswers(file: number, path: string, sourceId: string, keep: KeepAnswer) {
  const chunk = Buffer.alloc(chunkBytes);
  const read: { length: number; answers: number; last: Header | null } = { length: 0, answers: 0, last: null };
  let rest = Buffer.alloc(0);
  for (let at = 0, bytes = 1; bytes > 0; at += bytes) {
    bytes = readSync(file, chunk, 0, chunkBytes, at);
    const text = Buffer.concat([rest, chunk.subarray(0, bytes)]);
    const end = text.lastIndexOf(0x0a) + 1;
    rest = Buffer.from(text.subarray(end));
    for (const line of end === 0 ? [] : text.toString('utf8', 0, end - 1).split('\n')) {
      // Each run with another content, or after one that is over, begins with a header.
      const isHeader = read.length === 0 || line.startsWith('{');
      if (isHeader) read.last = readHeader(line, path, sourceId);
      else keepLine(line, path, keep);
      read.answers += Number(!isHeader);
      read.length += Buffer.byteLength(line) + 1;
    }
  }
  return read;
}

const chunkBytes = 1_048_576;

const headerLine = z.object({
  journal: z.literal(version),
  source: z.string(),
  content: z.string().nullable(),
  isOver: z.boolean().default(false),
});
type Header = z.infer<typeof headerLine>;

function readHeader(line: string, path: string, sourceId: string): Header {
  try {
    const header = headerLine.parse(JSON.parse(line));
    if (header.source === sourceId) return header;
  } catch {
    // It is of another version, or no journal.
  }
  throw new PaymentFileError(
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
