import { Worker } from 'node:worker_threads';
import { builtFile } from '../../base/process/package-files.ts';
import type { Answer, AnswerSource } from '../answers/answer-source.ts';
import type { CheckRequest } from './request.ts';

/** What a worker checks, and how. */
export interface CheckJob extends CheckRequest {
  /** Folder with imported bank lists. */
  dataDir: string;
  /** Different IBANs that are looked up. */
  maxIbans: number;
  maxAnswerBytes: number;
}

/** `end`: of the body, with the reason if it is not complete. `read`: of the output. */
export type ToWorker =
  | { kind: 'chunk'; bytes: Uint8Array }
  | { kind: 'end'; problem: string | null }
  | { kind: 'answers'; answers: readonly (readonly [iban: string, answer: Answer])[] }
  | { kind: 'read'; bytes: number };

/** `taken`: of the body. */
export type FromWorker =
  | { kind: 'taken'; bytes: number }
  | { kind: 'asked'; ibans: readonly string[] }
  | { kind: 'output'; bytes: Uint8Array }
  | { kind: 'ended'; end: CheckEnd };

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

/** Starts a thread that checks a file while its parts are sent. */
export function startCheck({ job, source, write, maxWorkMs, file = builtFile('check-worker.js') }: RunOptions) {
  // Neither the keys of the gateway nor what NODE_OPTIONS loads into it.
  const worker = new Worker(file, { workerData: job, env: {}, execArgv: [], resourceLimits });
  const post = (message: ToWorker) => worker.postMessage(message);
  let answers: (readonly [iban: string, answer: Answer])[] = [];
  /** Bytes of the body that the thread has not taken. */
  let untaken = 0;
  let isOver = false;
  /** Whether the client must read before more is written. */
  let isBlocked = false;
  let wake = () => {};
  let written = Promise.resolve();
  let finish: (end: CheckEnd) => void = () => {};
  let fail: (error: unknown) => void = () => {};
  const ended = new Promise<CheckEnd>((resolve, reject) => {
    const settle = () => {
      isOver = true;
      wake();
      void worker.terminate();
    };
    fail = (error) => {
      settle();
      reject(error);
    };
    finish = (end) => {
      settle();
      written.then(() => resolve(end), reject);
    };
  });

  worker.on('message', (message: FromWorker) => {
    if (message.kind === 'asked') for (const iban of message.ibans) void answer(iban);
    else if (message.kind === 'output') written = written.then(() => pass(message.bytes));
    else if (message.kind === 'ended') finish(message.end);
    else {
      untaken -= message.bytes;
      wake();
    }
  });
  worker.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') finish(tooExpensive('memory'));
    else fail(error);
  });
  worker.on('exit', () => {
    if (!isOver) fail(new Error('The thread of a check has ended before the check.'));
  });
  const timer = setInterval(() => {
    if (worker.performance.eventLoopUtilization().active > maxWorkMs) finish(tooExpensive('time'));
  }, lookEveryMs);

  return {
    /** Rejects for a fault. */
    ended,
    /** Resolves when the thread can take more, and at once while the client reads nothing: many read after they have sent all. */
    async add(bytes: Uint8Array): Promise<void> {
      if (isOver) return;
      untaken += bytes.length;
      post({ kind: 'chunk', bytes });
      while (untaken > maxUntaken && !isBlocked && !isOver) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    endBody: (problem: string | null) => post({ kind: 'end', problem }),
    /** The client has left. */
    leave: () => finish({ kind: 'left' }),
    async stop(): Promise<void> {
      clearInterval(timer);
      await worker.terminate();
    },
  };

  async function answer(iban: string): Promise<void> {
    try {
      const answer = await source.ask(iban);
      if (answers.push([iban, answer]) === 1) setImmediate(sendAnswers);
    } catch (error) {
      fail(error);
    }
  }

  function sendAnswers(): void {
    post({ kind: 'answers', answers });
    answers = [];
  }

  async function pass(bytes: Uint8Array): Promise<void> {
    const read = write(bytes);
    if (read !== null) {
      isBlocked = true;
      wake();
      await read;
      isBlocked = false;
    }
    post({ kind: 'read', bytes: bytes.length });
  }
}

/** Without the parts of the file, which are outside of the heap. A file of payees needs a tenth. */
const resourceLimits = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16 };
const lookEveryMs = 250;
const maxUntaken = 262_144;

function tooExpensive(what: 'memory' | 'time'): CheckEnd {
  return { kind: 'failed', message: `the check of the file needs too much ${what}; send it in parts` };
}
