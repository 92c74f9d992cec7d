import { ranBetween, readThreadTime } from '../measure.ts';

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

// Its turns would keep the process running after the test was killed.
process.on('disconnect', () => process.exit());

let last = process.cpuUsage();
let isWatching = false;
let turnBeganAt = readThreadTime();
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
  turnBeganAt = readThreadTime();
  setImmediate(() => {
    if (!isWatching) return;
    endTurn();
    beginTurn();
  });
}

function endTurn(): void {
  blockMs = Math.max(blockMs, ranBetween(turnBeganAt, readThreadTime()));
  peakMb = Math.max(peakMb, process.memoryUsage.rss() / 1e6);
}
