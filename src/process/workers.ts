import cluster, { type Worker } from 'node:cluster';
import { answerWithin, pause } from '../async/pause.ts';
import { AbortableSignal } from '../async/signal.ts';
import { messageOf } from '../errors.ts';

interface WorkersOptions {
  count: number;
  /** How long a worker may take to end after it was asked to; then it is killed. */
  maxStopMs: number;
  /** Passed to each worker; see `readWorkerSettings`. */
  settings: object;
  /** What a worker may call, besides `listens`. @param worker its number */
  createFunctions: (worker: number) => object;
  /** @param problem null if it was asked to end, or has printed why it did not start */
  onEnded: (worker: number, problem: string | null) => void;
}

/** What the primary process calls in a worker. */
export interface WorkerFunctions<Report> {
  /** A signal to stop. A second one ends the delay. */
  stop(): void;
  /** Another worker has taken its place. */
  retire(): void;
  /** Whether its log has the level debug. */
  setDebug(isDebug: boolean): void;
  report(): Promise<Report>;
}

/** What a worker calls in the primary process, besides what that adds to this. */
export interface PrimaryFunctions {
  /** It accepts connections, and calls of its functions. @param url where */
  listens(url: string): void;
}

/**
 * Runs the program in several worker processes, which listen on the same port. A worker that ends without being asked to is
 * replaced. The system distributes new connections; a worker that ends leaves those that it has not accepted to the others.
 */
export function createWorkers<Report>(options: WorkersOptions) {
  const { count, maxStopMs, settings, createFunctions, onEnded } = options;
  // Round robin, the default, loses a connection that is passed to a worker that has just died.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const running = new Set<RunningWorker<Report>>();
  const stopping = new AbortableSignal();
  let isStarted = false;
  let isDebug = false;
  /** Before the next worker replaces one that has ended. */
  let pauseMs = 0;
  let hasFailedToStop = false;
  let restarting: Promise<unknown> = Promise.resolve();

  return {
    /** Starts the first worker, and then the others. @returns their URL; null if one of them ended before it listened */
    async start(): Promise<string | null> {
      const url = await startOne();
      if (url === null) return null;
      const others = await Promise.all(Array.from({ length: count - 1 }, startOne));
      isStarted = !others.includes(null);
      return isStarted ? url : null;
    },
    /** Reads the reports of all workers that listen. Resolves after a time limit also if some have not answered. */
    async readReports(timeoutMs: number, onReport: (worker: number, report: Report) => void): Promise<void> {
      const reports = listening().map(async ({ worker, channel }) => onReport(worker.id, await channel.call('report')));
      await answerWithin(Promise.allSettled(reports), timeoutMs);
    },
    /**
     * Replaces all workers, one after the other: each new one listens before the old one retires.
     * @returns false if a new one ended before, so that the old ones continue, or if all are stopping
     */
    restart(): Promise<boolean> {
      const restarted = restarting.then(replaceAll);
      restarting = restarted;
      return restarted;
    },
    /** Sets the level of the log of all workers to debug, also of later ones, or back. */
    toggleDebug(): void {
      isDebug = !isDebug;
      for (const one of listening()) passDebug(one);
    },
    /** Passes on a signal to stop. Resolves when all have ended. @returns whether all have stopped without a problem */
    async stop(): Promise<boolean> {
      stopping.abort('stopping');
      const all = [...running];
      for (const one of all) if (one.isListening) passStop(one);
      await Promise.all(all.map(endInTime));
      return !hasFailedToStop;
    },
  };

  function listening(): RunningWorker<Report>[] {
    return [...running].filter(({ isListening }) => isListening);
  }

  function passStop({ channel }: RunningWorker<Report>): void {
    void channel.call('stop').catch(() => {});
  }

  function passDebug({ channel }: RunningWorker<Report>): void {
    void channel.call('setDebug', isDebug).catch(() => {});
  }

  /** @returns its URL when it listens; null if it ends before */
  async function startOne(): Promise<string | null> {
    if (stopping.aborted) return null;
    const worker = fork();
    if (worker === null) return null;
    let listens = (_url: string) => {};
    const functions = { ...createFunctions(worker.id), listens: (url: string) => listens(url) };
    const channel = createChannel<WorkerFunctions<Report>>(worker, functions);
    const ended = new Promise<EndOfWorker>((resolve) => {
      worker.on('exit', (code, signal) => resolve({ code, signal }));
      // Without a process id, it was not started. All other errors are followed by its exit.
      worker.on('error', ({ message }) => worker.process.pid ?? resolve({ code: null, signal: message }));
    });
    const startedAt = performance.now();
    const one: RunningWorker<Report> = { worker, channel, startedAt, isListening: false, isRetired: false, ended };
    running.add(one);
    void ended.then((end) => forget(one, end));
    return new Promise((resolve) => {
      void ended.then(() => resolve(null));
      listens = (url) => {
        one.isListening = true;
        if (isDebug) passDebug(one);
        if (stopping.aborted) passStop(one);
        resolve(url);
      };
    });
  }

  /** Null if the system cannot start a process, for example for lack of memory. */
  function fork(): Worker | null {
    try {
      return cluster.fork({ [settingsVariable]: JSON.stringify(settings) });
    } catch (error) {
      onEnded(0, messageOf(error));
      pauseMs = pauseAfter(0, pauseMs);
      return null;
    }
  }

  function forget(one: RunningWorker<Report>, { code, signal }: EndOfWorker): void {
    const { worker, channel, startedAt, isListening, isRetired } = one;
    running.delete(one);
    channel.close();
    const isAsked = stopping.aborted || isRetired;
    if (!isAsked) pauseMs = pauseAfter(performance.now() - startedAt, pauseMs);
    // A signal of the terminal may reach a worker before it leaves signals to this process.
    const isExpected = isAsked ? code === 0 || !isListening : !isStarted && signal === null;
    if (stopping.aborted && !isExpected) hasFailedToStop = true;
    onEnded(worker.id, isExpected ? null : (signal ?? `exit code ${code}`));
    if (isListening && !isAsked) void replaceOne();
  }

  async function endInTime({ worker, ended }: RunningWorker<Report>): Promise<void> {
    const timer = setTimeout(() => worker.process.kill('SIGKILL'), maxStopMs);
    await ended;
    clearTimeout(timer);
  }

  /** Starts workers until one listens. */
  async function replaceOne(): Promise<void> {
    while (isOneMissing()) {
      await pause(pauseMs, stopping).catch(() => {});
      if (isOneMissing() && (await startOne()) !== null) return;
    }
  }

  /** While all are replaced, there is one more. */
  function isOneMissing(): boolean {
    return !stopping.aborted && [...running].filter(({ isRetired }) => !isRetired).length < count;
  }

  async function replaceAll(): Promise<boolean> {
    for (const old of listening()) {
      if (!running.has(old)) continue;
      if ((await startOne()) === null) return false;
      old.isRetired = true;
      void old.channel.call('retire').catch(() => {});
      await endInTime(old);
    }
    // One that died meanwhile was not replaced, because there was one more.
    while (isOneMissing()) if ((await startOne()) === null) return false;
    return !stopping.aborted;
  }
}

interface RunningWorker<Report> {
  worker: Worker;
  channel: Channel<WorkerFunctions<Report>>;
  /** By `performance.now()`. */
  startedAt: number;
  isListening: boolean;
  isRetired: boolean;
  ended: Promise<EndOfWorker>;
}

interface EndOfWorker {
  code: number | null;
  /** The name of a signal, or why no process was started. */
  signal: string | null;
}

/**
 * The pause after a worker has ended: none if it ran for long, otherwise twice the one before, so that crashes do not follow each
 * other without end.
 */
export function pauseAfter(uptimeMs: number, lastPauseMs: number): number {
  return uptimeMs >= longRunMs ? 0 : Math.min(maxPauseMs, 2 * lastPauseMs || minPauseMs);
}

const longRunMs = 10_000;
const minPauseMs = 1_000;
const maxPauseMs = 30_000;

/** What the primary process passes to its workers; null if this process is not one of them. */
export function readWorkerSettings<Settings>(): Settings | null {
  const settings = process.env[settingsVariable];
  return cluster.isWorker && settings ? JSON.parse(settings) : null;
}

const settingsVariable = 'LEDGERQUILL_WORKER';

/**
 * Calls functions of the primary process, and answers its calls. Signals, which a terminal sends to all processes, are left
 * to it. If it ends without stopping its workers, they end at once.
 */
export function connectToPrimary<Primary extends PrimaryFunctions, Report>(
  functions: WorkerFunctions<Report>,
): Channel<Primary> {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2']) process.on(signal, () => {});
  return createChannel<Primary>(process, functions);
}

/** Otherwise the channel to the primary process keeps a worker running. Has no effect in other processes. */
export function leavePrimary(): void {
  cluster.worker?.disconnect();
}

/** Calls functions of the other process. Arguments and results are sent as JSON. */
interface Channel<Other> {
  /** Rejects if the function does, or if the other process has ended. */
  call<Name extends keyof Other & string>(
    name: Name,
    ...args: ArgumentsOf<Other[Name]>
  ): Promise<Awaited<ResultOf<Other[Name]>>>;
  close(): void;
}

type ArgumentsOf<Called> = Called extends (...args: infer Arguments) => unknown ? Arguments : never;
type ResultOf<Called> = Called extends (...args: never[]) => infer Result ? Result : never;

type Message =
  | { kind: 'call'; id: number; name: string; args: readonly unknown[] }
  | { kind: 'result'; id: number; result: unknown }
  | { kind: 'error'; id: number; error: string };

/** Both ends of a channel: a worker in the primary process, and the process of the worker. */
interface End {
  on(event: 'message', listener: (message: Message) => void): unknown;
  send?(message: Message, handle: undefined, options: undefined, onSent: () => void): boolean;
}

function createChannel<Other>(end: End, functions: object): Channel<Other> {
  const answers = new Map<string, (...args: readonly unknown[]) => unknown>(Object.entries(functions));
  const calls = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>();
  let lastId = 0;
  end.on('message', (message) => void receive(message));

  return {
    call: (name, ...args) =>
      new Promise((resolve, reject) => {
        lastId += 1;
        calls.set(lastId, { resolve, reject });
        send({ kind: 'call', id: lastId, name, args });
      }),
    close() {
      for (const { reject } of calls.values()) reject(new Error('The other process has ended.'));
      calls.clear();
    },
  };

  /** If it cannot be sent, the other process is ending, and the channel is closed soon. */
  function send(message: Message): void {
    end.send?.(message, undefined, undefined, () => {});
  }

  async function receive(message: Message): Promise<void> {
    const { kind, id } = message;
    if (kind === 'call') return send(await answer(message));
    const call = calls.get(id);
    calls.delete(id);
    if (kind === 'error') call?.reject(new Error(message.error));
    else call?.resolve(message.result as never);
  }

  async function answer({ id, name, args }: Extract<Message, { kind: 'call' }>): Promise<Message> {
    try {
      return { kind: 'result', id, result: await answers.get(name)?.(...args) };
    } catch (error) {
      return { kind: 'error', id, error: String(error) };
    }
  }
}
