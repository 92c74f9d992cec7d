import { readFileSync } from 'node:fs';
import { ranBetween, readThreadTime } from '../measure.ts';

/* Preloaded into a gateway process, on Linux: answers every message with what the process has used since the one before. */

export interface CheckReading {
  /** The longest work of the main thread between two turns of the event loop, in milliseconds of CPU time. */
  blockMs: number;
  /** CPU time of the process, in milliseconds. */
  cpuMs: number;
  /** The largest resident memory since the process began, in MiB. */
  peakMib: number;
}

let longest = 0;
let turnBeganAt = readThreadTime();
let last = process.cpuUsage();

// Timers are called in every turn of the event loop.
setInterval(measureTurn, 1).unref();

process.on('message', () => {
  measureTurn();
  const { user, system } = process.cpuUsage(last);
  const reading: CheckReading = { blockMs: longest, cpuMs: (user + system) / 1_000, peakMib: readPeak() };
  process.send?.(reading);
  longest = 0;
  last = process.cpuUsage();
});

function measureTurn(): void {
  const now = readThreadTime();
  longest = Math.max(longest, ranBetween(turnBeganAt, now));
  turnBeganAt = now;
}

/** Not `resourceUsage().maxRSS`: that includes what the parent used when it started the process. */
function readPeak(): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'latin1'))?.[1]) / 1_024;
}
