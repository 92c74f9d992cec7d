import { existsSync, readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Runs a full garbage collection. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
}

/** What is in use after a full garbage collection, in bytes. */
export function memoryInUse(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Times that have passed, in milliseconds. */
interface ThreadTime {
  /** In which this thread ran; the scheduler of Linux counts it every 4 ms. Elsewhere, as `processMs`. */
  threadMs: number;
  /** In which threads of the process ran, those that collect garbage and compile included. */
  processMs: number;
  /** By the clock, with the time in which the thread waited for a core. */
  wallMs: number;
}

export function readThreadTime(): ThreadTime {
  const { user, system } = process.cpuUsage();
  const processMs = (user + system) / 1_000;
  const threadMs = hasThreadStatus ? Number(readFileSync(threadStatus, 'latin1').split(' ')[0]) / 1e6 : processMs;
  return { threadMs, processMs, wallMs: performance.now() };
}

/** How long this thread ran at most: each of the times may be too long. */
export function ranBetween(before: ThreadTime, after: ThreadTime): number {
  return Math.min(after.threadMs - before.threadMs, after.processMs - before.processMs, after.wallMs - before.wallMs);
}

const threadStatus = '/proc/thread-self/schedstat';
const hasThreadStatus = existsSync(threadStatus);

/** The least CPU time of ten runs of each work, in milliseconds. They alternate, so a busy machine slows down all of them. */
export function leastCpuMs<Name extends string>(works: Record<Name, () => unknown>): Record<Name, number> {
  const least = {} as Record<Name, number>;
  for (let run = 0; run < 10; run += 1) {
    for (const [name, work] of Object.entries<() => unknown>(works) as [Name, () => unknown][])
      least[name] = Math.min(least[name] ?? Number.POSITIVE_INFINITY, cpuMsOf(work));
  }
  return least;
}

/** How long all threads of the process ran meanwhile, in milliseconds. */
export function cpuMsOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
