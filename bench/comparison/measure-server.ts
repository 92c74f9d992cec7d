import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { distinctIban } from './distinct-ibans.ts';
import { runLoad } from './load.ts';
import type { Result } from './results.ts';
import type { Server } from './servers.ts';
import { startServer } from './start-server.ts';
import type { CountingUpstream } from './upstream.ts';
import { createBodies, type Workload, workloads } from './workloads.ts';

interface MeasureServerOptions {
  server: Server;
  /** Names, in order. */
  workloads: readonly string[];
  upstream: CountingUpstream;
  load: { callers: number; seconds: number; delayMs: number };
}

/** More IBANs than one load can use, so that no two loads share one. */
const ibansPerLoad = 10_000_000;

/** Starts a server and measures each workload. Throws if a response is wrong; durations are not checked. */
export async function* measureServer({
  server,
  workloads: names,
  upstream,
  load: { callers, seconds, delayMs },
}: MeasureServerOptions): AsyncGenerator<Omit<Result, 'round' | 'server'>> {
  const running = await startServer(server);
  const { url } = running;
  let nextIban = 1;
  const takeIbans = () => {
    nextIban += ibansPerLoad;
    return nextIban - ibansPerLoad;
  };
  /** Waits until the requests that the load left unfinished are done. @returns the upstream calls since the last report */
  const settle = async () => {
    let [calls, idleTimes] = [0, 0];
    while (idleTimes < 3) {
      await sleep(100 + delayMs);
      // Any response: the server is not busy.
      await send(url, findWorkload('W4').body);
      const newCalls = await upstream.report();
      idleTimes = newCalls === 0 ? idleTimes + 1 : 0;
      calls += newCalls;
    }
    return calls;
  };
  try {
    for (const name of names) {
      const { body, newIbans, maxCallers = callers } = findWorkload(name);
      const load = { url, body, newIbans, callers: Math.min(callers, maxCallers) };
      await checkResponse(url, name, takeIbans());
      await runLoad({ ...load, seconds, firstIban: takeIbans() });
      await settle();
      const cpuMsBefore = running.cpuMs();
      const result = await runLoad({ ...load, seconds, firstIban: takeIbans() });
      const cpuMs = running.cpuMs() - cpuMsBefore;
      const calls = await settle();
      if (calls < result.requests * newIbans) {
        throw new Error(`${name}: ${calls} upstream calls for ${result.requests} requests are too few`);
      }
      await checkResponse(url, name, takeIbans());
      const callsPerRequest = await upstream.report();
      yield {
        workload: name,
        requestsPerSecond: (result.requests * 1e6) / result.us,
        p50Ms: result.p50Us / 1_000,
        p99Ms: result.p99Us / 1_000,
        cpuUs: (cpuMs * 1_000) / result.requests,
        callsPerRequest,
        memoryMib: running.memoryMib(),
        firstAnswerMs: running.firstAnswerMs,
      };
    }
  } finally {
    await running.close();
  }
}

/** Sends one request. Throws if the response is not the expected one. */
export async function checkResponse(url: string, workload: string, firstIban: number): Promise<void> {
  const { body, newIbans, expect } = findWorkload(workload);
  const ibans = Array.from({ length: newIbans }, (_, index) => distinctIban(firstIban + index));
  const { status, text } = await send(url, createBodies(body, newIbans, firstIban)());
  const expected = { data: expect(ibans) };
  if (status === 200 && isDeepStrictEqual(parse(text), expected)) return;
  const error = /\{"message":.{0,300}/.exec(text)?.[0] ?? text.slice(0, 300);
  throw new Error(`${url}, ${workload}: HTTP ${status} ${error}`);
}

async function send(url: string, body: string): Promise<{ status: number; text: string }> {
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body });
  return { status: response.status, text: await response.text() };
}

function findWorkload(name: string): Workload {
  const workload = workloads[name];
  if (workload === undefined) throw new Error(`unknown workload: ${name}`);
  return workload;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
