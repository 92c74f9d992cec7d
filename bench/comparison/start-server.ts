import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readMemory } from '../gateway-process.ts';
import { pin, serverCore } from './pin.ts';
import type { Server } from './servers.ts';
import { workloads } from './workloads.ts';

export interface RunningServer {
  url: string;
  /** From the start of the process to its first response. */
  firstAnswerMs: number;
  /** Resident memory of the process and its children, in MiB; NaN without /proc. */
  memoryMib(): number;
  /** Processor time that they have used, in milliseconds; NaN without /proc. */
  cpuMs(): number;
  close(): Promise<void>;
}

const startTimeoutMs = 30_000;
const stopTimeoutMs = 5_000;

/** Starts a server in production mode, in an empty data folder, and waits until it answers a look-up. */
export async function startServer({ script, env }: Server): Promise<RunningServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'ledgerquill-bench-'));
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}/graphql`;
  const [command, ...args] = pin(serverCore, [process.execPath, script]);
  const { PATH = '' } = process.env;
  const startedAt = performance.now();
  const child = spawn(command, args, {
    env: { PATH, NODE_ENV: 'production', PORT: String(port), DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(child, 'exit');
  const killServer = () => {
    child.kill('SIGKILL');
    rmSync(dataDir, { recursive: true, force: true });
  };
  process.once('exit', killServer);

  while (!(await isAnswering(url))) {
    const isLate = performance.now() - startedAt > startTimeoutMs;
    if (child.exitCode !== null || isLate) {
      killServer();
      throw new Error(`${script} did not start`);
    }
    await sleep(5);
  }
  const firstAnswerMs = performance.now() - startedAt;
  const pid = child.pid ?? 0;

  return {
    url,
    firstAnswerMs,
    memoryMib: () => listProcesses(pid).reduce((sum, each) => sum + toMib(readMemory(each)?.rss), 0),
    cpuMs: () => listProcesses(pid).reduce((sum, each) => sum + readCpuMs(each), 0),
    async close() {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
      await exited;
      clearTimeout(timer);
      process.off('exit', killServer);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function isAnswering(url: string): Promise<boolean> {
  const headers = { 'content-type': 'application/json' };
  return fetch(url, { method: 'POST', headers, body: workloads.W3?.body ?? '' }).then(
    (response) => response.text().then(() => true),
    () => false,
  );
}

/** The process and all below it. */
function listProcesses(pid: number): number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const children = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'));
    return [pid, ...children.join(' ').trim().split(/\s+/).filter(Boolean).map(Number).flatMap(listProcesses)];
  } catch {
    return [pid];
  }
}

function toMib(mb = Number.NaN): number {
  return (mb * 1e6) / 2 ** 20;
}

/** User and system time; Linux counts them in ticks of 10 ms. */
function readCpuMs(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return Number.NaN;
  }
}
