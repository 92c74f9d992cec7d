import { monitorEventLoopDelay } from 'node:perf_hooks';

/* Preloaded into a gateway process: answers every message with what the process has used since the one before. */

export interface Reading {
  /** CPU time since the last reading, in milliseconds. */
  cpuMs: number;
  /** The longest delay of the event loop since the last reading, in milliseconds. */
  stallMs: number;
  /** Resident memory now, in MB, after a garbage collection if the message asks for one. */
  rssMb: number;
}

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
let last = process.cpuUsage();

process.on('message', (message) => {
  if (message === 'collect') (globalThis as { gc?: () => void }).gc?.();
  const { user, system } = process.cpuUsage(last);
  const reading: Reading = {
    cpuMs: (user + system) / 1_000,
    stallMs: delay.max / 1e6,
    rssMb: process.memoryUsage.rss() / 1e6,
  };
  process.send?.(reading);
  delay.reset();
  last = process.cpuUsage();
});
