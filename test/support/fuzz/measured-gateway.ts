import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { tFolder } from '../gateway/stores/folder.ts';
import { bundleScript } from '../process.ts';
import type { Reading } from './meter.ts';
import type { FuzzRequest } from './requests.ts';

export interface Measurement {
  request: FuzzRequest;
  status: number;
  bytes: number;
  lookUps: number;
  cpuMs: number;
  /** Growth of resident memory while the request was processed. */
  grownMb: number;
  /** The longest turn of the event loop, and the most resident memory, of a request that is watched; otherwise 0. */
  blockMs: number;
  peakMb: number;
}

/** A gateway process that reports what each request uses. Requests are sent one after another. */
export async function tMeasuredGateway(
  env: Readonly<Record<string, string>>,
  credentials: Readonly<Record<string, string>> = {},
  heapMb = 512,
) {
  const meter = bundleScript('test/support/fuzz/meter.ts');
  const flags = [`--max-old-space-size=${heapMb}`, '--expose-gc', '--import', meter];
  const child = spawn(process.execPath, [...flags, 'dist/main.js'], {
    cwd: join(import.meta.dirname, '../../..'),
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      DATA_DIR: tFolder(),
      ANONYMOUS_SCOPES: 'bank-data+essays+cost',
      LOG_LEVEL: 'fatal',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`the gateway ended with ${code ?? signal}`);
  });
  ended.catch(() => {});
  onTestFinished(() => void child.kill('SIGKILL'));
  const url = await Promise.race([readUrl(child.stdout), ended]);

  return {
    /** @param watches whether turns of the event loop are measured, too, which uses CPU time */
    async measure(
      request: FuzzRequest,
      { collects = false, watches = false, isTraced = false } = {},
    ): Promise<Measurement> {
      const before = await read(watches ? 'watch' : collects ? 'collect' : 'read');
      const accepted = { 'content-type': 'application/json', 'accept-encoding': 'identity', 'x-cost': '1' };
      const trace = isTraced ? { 'apollo-federation-include-trace': 'ftv1' } : {};
      const headers = { ...accepted, ...credentials, ...trace };
      const response = await Promise.race([
        fetch(url, { method: 'POST', headers, body: JSON.stringify(request) }),
        ended,
      ]);
      const text = await response.text();
      const { cpuMs, rssMb, blockMs, peakMb } = await read('read');
      const lookUps = Number(/"lookUps":(\d+)/.exec(text.slice(-300))?.[1] ?? 0);
      const grownMb = rssMb - before.rssMb;
      return {
        request,
        status: response.status,
        bytes: Buffer.byteLength(text),
        lookUps,
        cpuMs,
        grownMb,
        blockMs,
        peakMb,
      };
    },
  };

  async function read(message: 'read' | 'collect' | 'watch'): Promise<Reading> {
    child.send(message);
    const [reading] = await Promise.race([once(child, 'message'), ended]);
    return reading as Reading;
  }
}

async function readUrl(stdout: NodeJS.ReadableStream | null): Promise<string> {
  for await (const chunk of stdout ?? []) {
    const url = /http:\/\/\S+\/graphql/.exec(String(chunk))?.[0];
    if (url !== undefined) return url;
  }
  throw new Error('the gateway did not start');
}
