import type { Writable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { builtFile } from '../../base/process/package-files.ts';
import type { Answer, AnswerSource } from '../answers/answers.ts';
import type { CheckRequest } from './request.ts';

/** What a worker checks, and how. */
export interface CheckJob extends CheckRequest {
  /** Folder with imported bank lists. */
  dataDir: string;
  /** Different IBANs that are looked up. */
  maxIbans: number;
  maxAnswerBytes: number;
}

/** `problem`: why the body, which is the standard input of the thread, is not complete. */
export type ToWorker =
  | { kind: 'problem'; message: string }
  | { kind: 'answers'; list: number; answers: readonly Answer[] };

export type FromWorker = { kind: 'asked'; list: number; ibans: readonly string[] } | { kind: 'ended'; end: CheckEnd };

/** `left`: the client does not read the answer. The message is that of a `PaymentFileError`. */
export type CheckEnd = { kind: 'complete' | 'workbook' | 'left' } | { kind: 'failed'; message: string };

interface RunOptions {
  job: CheckJob;
  source: Pick<AnswerSource, 'ask'>;
  /** @returns null, or what resolves when the client has read enough for the next part */
  write(bytes: Uint8Array): Promise<void> | null;
  /** How long the thread may work: it waits for the client and for answers as long as they take. */
  maxWorkMs: number;
  file?: URL;
}

/** Starts a thread that checks a file while its parts are sent: the body is its standard input, and the answer its standard output. */
export function startCheck({ job, source, write, maxWorkMs, file = builtFile('check-worker.js') }: RunOptions) {
  const worker = startThread(file, job);
  const body = worker.stdin as Writable;
  const post = (message: ToWorker) => worker.postMessage(message);
  let end: CheckEnd | null = null;
  let fault: unknown = null;
  let isOver = false;
  /** Whether the client must read before more is written. */
  let isBlocked = false;
  let wake = () => {};

  const finish = (reason: CheckEnd | null) => {
    end ??= reason;
    void worker.terminate();
  };
  const fail = (error: unknown) => {
    fault ??= error;
    finish(null);
  };
  const ask = async (iban: string) => source.ask(iban);
  worker.on('message', (message: FromWorker) => {
    if (message.kind === 'ended') finish(message.end);
    else
      Promise.all(message.ibans.map(ask)).then(
        (answers) => post({ kind: 'answers', list: message.list, answers }),
        fail,
      );
  });
  worker.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') finish(tooExpensive('memory'));
    else fault ??= error;
  });
  body.on('drain', () => wake());
  const timer = setInterval(() => {
    if (worker.performance.eventLoopUtilization().active > maxWorkMs) finish(tooExpensive('time'));
  }, lookEveryMs);
  const exited = new Promise<void>((resolve) => worker.on('exit', () => resolve()));

  return {
    /** Rejects for a fault. */
    ended: run(),
    /** Resolves when the thread can take more, and at once while the client reads nothing: many read after they have sent all. */
    async add(bytes: Uint8Array): Promise<void> {
      if (isOver) return;
      body.write(bytes);
      while (body.writableNeedDrain && !isBlocked && !isOver) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    endBody(problem: string | null): void {
      if (problem !== null) post({ kind: 'problem', message: problem });
      body.end();
    },
    /** The client has left. */
    leave: () => finish({ kind: 'left' }),
    async stop(): Promise<void> {
      clearInterval(timer);
      await worker.terminate();
    },
  };

  async function run(): Promise<CheckEnd> {
    const written = passOutput();
    await exited;
    isOver = true;
    wake();
    await written;
    if (end !== null) return end;
    throw fault ?? new Error('The thread of a check has ended before the check.');
  }

  async function passOutput(): Promise<void> {
    for await (const bytes of worker.stdout) {
      const read = write(bytes);
      if (read === null) continue;
      isBlocked = true;
      wake();
      await read;
      isBlocked = false;
    }
  }
}

function startThread(file: URL, job: CheckJob): Worker {
  // The option of the image would replace the limit of the thread. The heap of the process has its own since its start.
  setFlagsFromString('--max-old-space-size=0');
  // Neither the keys of the gateway nor what NODE_OPTIONS loads into it.
  const isolation = { env: {}, execArgv: [], resourceLimits };
  return new Worker(file, { workerData: job, stdin: true, stdout: true, ...isolation });
}

/** Without the parts of the file, which are outside of the heap. A file of payees needs a tenth. */
const resourceLimits = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16 };
const lookEveryMs = 250;

function tooExpensive(what: 'memory' | 'time'): CheckEnd {
  return { kind: 'failed', message: `the check of the file needs too much ${what}; send it in parts` };
}
