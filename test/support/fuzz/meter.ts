import { existsSync, readFileSync } from 'node:fs';

/* Preloaded into a gateway process: answers every message with what the process has used since the one before. */

export interface Reading {
  /** CPU time since the last reading, in milliseconds. */
  cpuMs: number;
  /** Resident memory now, in MB, after a garbage collection if the message asks for one. */
  rssMb: number;
  /** The longest turn of the event loop since `watch`, in CPU time of its thread; otherwise 0. */
  blockMs: number;
  /** The most resident memory since `watch`, in MB; otherwise 0. */
  peakMb: number;
}

/** Only Linux counts the time of a thread; elsewhere, that of the whole process is an upper bound. */
const threadStatus = '/proc/thread-self/schedstat';
const hasThreadStatus = existsSync(threadStatus);

let last = process.cpuUsage();
let isWatching = false;
let turnBeganAt = { ran: 0, at: 0 };
let blockMs = 0;
let peakMb = 0;

process.on('message', (message: 'read' | 'collect' | 'watch') => {
  if (message === 'collect' || message === 'watch') (globalThis as { gc?: () => void }).gc?.();
  if (isWatching) endTurn();
  const { user, system } = process.cpuUsage(last);
  const reading: Reading = { cpuMs: (user + system) / 1_000, rssMb: process.memoryUsage.rss() / 1e6, blockMs, peakMb };
  process.send?.(reading);
  last = process.cpuUsage();
  [blockMs, peakMb] = [0, 0];
  isWatching = message === 'watch';
  if (isWatching) beginTurn();
});

function beginTurn(): void {
  turnBeganAt = readTimes();
  setImmediate(() => {
    if (!isWatching) return;
    endTurn();
    beginTurn();
  });
}

function endTurn(): void {
  const { ran, at } = readTimes();
  // A thread that waits for a core does not run, and helpers of a process run beside it.
  blockMs = Math.max(blockMs, Math.min(ran - turnBeganAt.ran, at - turnBeganAt.at));
  peakMb = Math.max(peakMb, process.memoryUsage.rss() / 1e6);
}

function readTimes() {
  const { user, system } = process.cpuUsage();
  const ran = hasThreadStatus
    ? Number(readFileSync(threadStatus, 'utf8').split(' ')[0]) / 1e6
    : (user + system) / 1_000;
  return { ran, at: performance.now() };
}
