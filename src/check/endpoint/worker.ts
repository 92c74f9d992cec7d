import { once } from 'node:events';
import { setPriority } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { createBankLists } from '../../banks/bank-lists.ts';
import { createKnownBanks, type KnownBanks } from '../../banks/known-banks.ts';
import { messageOf } from '../../base/errors.ts';
import { type Answer, AnswerSource, createAnswers } from '../answers/answers.ts';
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
/** The main thread has a limited number of questions at a time: if all are in its cache, it answers them in one go. */
const [maxList, maxLists] = [10, 10];

/** What takes the answers to a list, by its number. */
const lists = new Map<number, (answers: readonly Answer[]) => void>();
let asked = 0;
const post = (message: FromWorker) => parentPort?.postMessage(message);
/** Why the body is not complete. */
let problem: string | null = null;
let bytesWritten = 0;
const receive = (message: ToWorker) => {
  if (message.kind === 'problem') problem = message.message;
  else lists.get(message.list)?.(message.answers);
};
parentPort?.on('message', receive);

// On Linux, that of this thread: queries of other callers come first.
if (process.platform === 'linux') setPriority(lowPriority);
const banks = createKnownBanks(createBankLists({ dataDir: job.dataDir }));
const end = await check(banks).catch((error: unknown): CheckEnd => {
  // A request has parameters where the command has options.
  const message = messageOf(error).replaceAll(/--(column|encoding)/g, '?$1=');
  if (error instanceof PaymentFileError) return { kind: 'failed', message };
  throw error;
});
await new Promise((resolve) => process.stdout.write('', resolve));
await banks.close();
post({ kind: 'ended', end });

async function check(banks: KnownBanks): Promise<CheckEnd> {
  const { format, columnNames, encoding, profile } = job;
  const file = await openPaymentStream(fileName, readBody());
  if (file.kind === 'workbook') return { kind: 'workbook' };
  const checking = { answers: createAnswers(createQuestions()), banks };
  if (file.kind === 'xml') {
    const writer = createFindingWriter(format, fileName);
    await write(writer.begin());
    const findings = checkMessage(file.chunks, { ...checking, messageIds: new Set(), profile });
    for await (const finding of findings) await write(writer.write(finding));
    await write(writer.writeSummary(findings.summary()));
    return { kind: 'complete' };
  }
  const tables = await readTables(file, encoding);
  for (const { table, checked } of await checkTables({ ...checking, fileName, tables, sheet: null, columnNames })) {
    if (checked === null) continue;
    const writeRows = createRowWriter(format, { fileName, columns: checked.columns, style: table.style });
    for await (const rows of checked.rows) await write(writeRows(rows));
  }
  return { kind: 'complete' };
}

async function* readBody(): AsyncGenerator<Buffer> {
  for await (const chunk of process.stdin) {
    yield chunk;
    // Otherwise answers would not be read before a file that has arrived was.
    await nextTurn();
  }
  // It was sent before the end of the body, but on another way.
  for (let left = take(); left !== undefined; left = take()) receive(left.message);
  if (problem !== null) throw new PaymentFileError(problem);
}

function take(): { message: ToWorker } | undefined {
  return parentPort === null ? undefined : receiveMessageOnPort(parentPort);
}

/** Resolves when more can be written. */
async function write(part: string): Promise<void> {
  bytesWritten += Buffer.byteLength(part);
  if (bytesWritten > job.maxAnswerBytes) {
    throw new PaymentFileError(
      `the answer has more than ${job.maxAnswerBytes} bytes, the limit; send the file in parts`,
    );
  }
  if (!process.stdout.write(part)) await once(process.stdout, 'drain');
}

function createQuestions(): Pick<AnswerSource, 'ask'> {
  const reason = `one request may have ${job.maxIbans} different IBANs (CHECK_MAX_IBANS)`;
  return new AnswerSource({
    async send(ibans) {
      const list = ++asked;
      const results = await new Promise<readonly Answer[]>((resolve) => {
        lists.set(list, resolve);
        post({ kind: 'asked', list, ibans });
      });
      lists.delete(list);
      return { results };
    },
    ...{ maxList, maxLists, limit: { ibans: job.maxIbans, reason } },
    budgetReason: '',
  });
}
