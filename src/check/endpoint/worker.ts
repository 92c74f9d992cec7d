import { setPriority } from 'node:os';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { createBankLists } from '../../banks/bank-lists.ts';
import { createKnownBanks, type KnownBanks } from '../../banks/known-banks.ts';
import type { Answer, AnswerSource } from '../answers/answer-source.ts';
import { createAnswers } from '../answers/answers.ts';
import { checkTables } from '../check-tables.ts';
import { openPaymentStream, PaymentFileError } from '../open-file.ts';
import { checkMessage } from '../pain/check-message.ts';
import { readTables } from '../read-rows.ts';
import { createFindingWriter, createRowWriter } from '../write-results.ts';
import type { CheckEnd, CheckJob, FromWorker, ToWorker } from './run-worker.ts';

/* The thread that checks one file for the gateway. Bank data are asked of the main thread, which has the budgets and the cache. */

const job: CheckJob = workerData;
const fileName = 'the request body';
/** Linux has priorities from 19, the lowest, to -20. */
const lowPriority = 5;
/** That the main thread has at a time: if all are in its cache, it answers them in one go. */
const maxQuestions = 100;
/** Of the output that the main thread has, in bytes, and of a part of it, in characters. */
const maxUnread = 262_144;
const partLength = 16_384;

/** The body; an error in place of what is missing. */
const received = new Readable({ objectMode: true, read() {} });
const questions = createQuestions();
const output = createOutput();
const post = (message: FromWorker) => parentPort?.postMessage(message);

parentPort?.on('message', (message: ToWorker) => {
  if (message.kind === 'chunk') received.push(message.bytes);
  else if (message.kind === 'answers') questions.answer(message.answers);
  else if (message.kind === 'read') output.onRead(message.bytes);
  else {
    if (message.problem !== null) received.push(new PaymentFileError(message.problem));
    received.push(null);
  }
});

// On Linux, that of this thread: queries of other callers come first.
if (process.platform === 'linux') setPriority(lowPriority);
const banks = createKnownBanks(createBankLists({ dataDir: job.dataDir }));
const end = await check(banks).catch((error: unknown): CheckEnd => {
  if (error instanceof PaymentFileError) return { kind: 'failed', message: error.message };
  throw error;
});
output.flush();
await banks.close();
post({ kind: 'ended', end });

async function check(banks: KnownBanks): Promise<CheckEnd> {
  const { format, columnNames, encoding, profile } = job;
  const file = await openPaymentStream(fileName, readBody());
  if (file.kind === 'workbook') return { kind: 'workbook' };
  const checking = { answers: createAnswers(questions), banks };
  if (file.kind === 'xml') {
    const writer = createFindingWriter(format, fileName);
    await output.write(writer.begin());
    const findings = checkMessage(file.chunks, { ...checking, messageIds: new Set(), profile });
    for await (const finding of findings) await output.write(writer.write(finding));
    return { kind: 'complete' };
  }
  const tables = await readTables(file, encoding);
  for (const { table, checked } of await checkTables({ ...checking, fileName, tables, sheet: null, columnNames })) {
    if (checked === null) continue;
    const write = createRowWriter(format, { fileName, columns: checked.columns, style: table.style });
    for await (const rows of checked.rows) await output.write(write(rows));
  }
  return { kind: 'complete' };
}

async function* readBody(): AsyncGenerator<Buffer> {
  for await (const chunk of received as AsyncIterable<Uint8Array | PaymentFileError>) {
    if (chunk instanceof PaymentFileError) throw chunk;
    post({ kind: 'taken', bytes: chunk.length });
    yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    // Otherwise answers would not be read before a file that has arrived was.
    await nextTurn();
  }
}

/** The main thread has a limited number of questions; the others wait here. */
function createQuestions() {
  const open = new Map<string, (answer: Answer) => void>();
  const waiting: string[] = [];
  let asked = 0;

  function send(): void {
    const ibans = waiting.splice(0, maxQuestions - (open.size - waiting.length));
    if (ibans.length > 0) post({ kind: 'asked', ibans });
  }

  return {
    ask(iban) {
      if (asked >= job.maxIbans) {
        const reason = `one request may have ${job.maxIbans} different IBANs (CHECK_MAX_IBANS)`;
        return { kind: 'not-asked', reason };
      }
      asked += 1;
      return new Promise((resolve) => {
        open.set(iban, resolve);
        if (waiting.push(iban) === 1) queueMicrotask(send);
      });
    },
    hurry() {},
    answer(answers: readonly (readonly [iban: string, answer: Answer])[]): void {
      for (const [iban, answer] of answers) {
        open.get(iban)?.(answer);
        open.delete(iban);
      }
      send();
    },
  } satisfies Pick<AnswerSource, 'ask' | 'hurry'> & Record<string, unknown>;
}

/** Parts are sent when they are long enough, or when there is nothing else to do. */
function createOutput() {
  let text = '';
  let bytesWritten = 0;
  let unread = 0;
  let resume = () => {};

  function flush(): void {
    if (text === '') return;
    const bytes = new TextEncoder().encode(text);
    text = '';
    unread += bytes.length;
    const message: FromWorker = { kind: 'output', bytes };
    parentPort?.postMessage(message, [bytes.buffer]);
  }

  return {
    flush,
    /** Resolves when more can be written. */
    async write(part: string): Promise<void> {
      bytesWritten += Buffer.byteLength(part);
      if (bytesWritten > job.maxAnswerBytes) {
        throw new PaymentFileError(
          `the answer has more than ${job.maxAnswerBytes} bytes, the limit; send the file in parts`,
        );
      }
      if (text === '') setImmediate(flush);
      text += part;
      if (text.length >= partLength) flush();
      while (unread > maxUnread) {
        await new Promise<void>((resolve) => {
          resume = resolve;
        });
      }
    },
    onRead(bytes: number): void {
      unread -= bytes;
      resume();
    },
  };
}
