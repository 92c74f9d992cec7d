import { createHistogram } from 'node:perf_hooks';
import { Client, type Dispatcher } from 'undici';
import type { LoadOptions, LoadResult } from './load.ts';
import { createBodies } from './workloads.ts';

/* The load without wrk, as a child process: each caller has a connection and waits for its response. */

const options: LoadOptions = JSON.parse(process.argv[2] ?? '');
const { origin, pathname: path } = new URL(options.url);
const headers = { accept: 'application/json', 'content-type': 'application/json' };
const createBody = createBodies(options.body, options.newIbans, options.firstIban);
const durations = createHistogram();
const result = { requests: 0, failed: 0 };

const startedAt = performance.now();
const endsAt = startedAt + options.seconds * 1_000;
await Promise.all(Array.from({ length: options.callers }, runCaller));
const us = (performance.now() - startedAt) * 1_000;
const [p50Us, p99Us] = [50, 99].map((percent) => durations.percentile(percent) / 1_000);
process.stdout.write(`${JSON.stringify({ ...result, us, p50Us, p99Us, timedOut: 0 } as LoadResult)}\n`);

async function runCaller(): Promise<void> {
  const client = new Client(origin);
  while (performance.now() < endsAt) {
    const sentAt = performance.now();
    if (!(await send(client, createBody()))) result.failed += 1;
    durations.record(Math.ceil((performance.now() - sentAt) * 1e6));
    result.requests += 1;
  }
  await client.destroy();
}

/** @returns whether the status is 200 */
function send(client: Client, body: string): Promise<boolean> {
  return new Promise((resolve) => {
    let status = 0;
    const handler: Dispatcher.DispatchHandler = {
      // undici requires this one.
      onRequestStart: () => {},
      onResponseStart: (_, statusCode) => {
        status = statusCode;
      },
      onResponseData: () => {},
      onResponseEnd: () => resolve(status === 200),
      onResponseError: () => resolve(false),
    };
    client.dispatch({ path, method: 'POST', headers, body }, handler);
  });
}
