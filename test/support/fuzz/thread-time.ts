import { existsSync, readFileSync } from 'node:fs';

/** Times that have passed, in milliseconds. */
export interface ThreadTime {
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
