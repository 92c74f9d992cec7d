import { readFileSync } from 'node:fs';

/*
 * Loaded into the gateway by benchmarks, on Linux: logs what its main thread did while the event loop was delayed, as
 * a line of JSON. The kernel counts how long a thread ran and how long it waited for a core that others used.
 */

const tickMs = 2;
const loggedMs = 20;

/** In milliseconds since the thread started. */
function readTimes() {
  const [ran = 0, waited = 0] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ').map(Number);
  return { at: performance.now(), ran: ran / 1e6, waited: waited / 1e6 };
}

let last = readTimes();
setInterval(() => {
  const now = readTimes();
  const delayMs = now.at - last.at - tickMs;
  if (delayMs > loggedMs) {
    const [ranMs, waitedMs] = [now.ran - last.ran, now.waited - last.waited];
    const line = { time: Date.now(), level: 30, msg: 'event loop delayed', delayMs, ranMs, waitedMs };
    process.stderr.write(`${JSON.stringify(line)}\n`);
  }
  last = now;
}, tickMs).unref();
