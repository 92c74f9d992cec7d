/* Preloaded into a gateway process: answers every message with what the process has used since the one before. */

export interface Reading {
  /** CPU time since the last reading, in milliseconds. */
  cpuMs: number;
  /** Resident memory now, in MB, after a garbage collection if the message asks for one. */
  rssMb: number;
}

let last = process.cpuUsage();

process.on('message', (message) => {
  if (message === 'collect') (globalThis as { gc?: () => void }).gc?.();
  const { user, system } = process.cpuUsage(last);
  const reading: Reading = {
    cpuMs: (user + system) / 1_000,
    rssMb: process.memoryUsage.rss() / 1e6,
  };
  process.send?.(reading);
  last = process.cpuUsage();
});
