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

/** A gateway process with a preloaded meter, which answers each message with a reading. Ended with the test. */
export async function tMeteredGateway<Message extends string, MeterReading>(
  meter: string,
  flags: readonly string[],
  env: Readonly<Record<string, string>>,
) {
  const args = [...flags, '--import', bundleScript(`test/support/fuzz/${meter}.ts`), 'dist/main.js'];
  const child = spawn(process.execPath, args, {
    cwd: join(import.meta.dirname, '../../..'),
    env: { PATH: process.env.PATH, PORT: '0', DATA_DIR: tFolder(), LOG_LEVEL: 'fatal', ENV_FILE: '', ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`the gateway ended with ${code ?? signal}`);
  });
  ended.catch(() => {});
  onTestFinished(() => void child.kill('SIGKILL'));
  const origin = await Promise.race([readOrigin(child.stdout), ended]);
  return {
    origin,
    /** Rejects when the process has ended. */
    ended,
    hasEnded: () => child.exitCode !== null,
    async read(message: Message): Promise<MeterReading> {
      child.send(message);
      const [reading] = await Promise.race([once(child, 'message'), ended]);
      return reading as MeterReading;
    },
  };
}

export interface MeasureOptions {
  /** Whether garbage is collected before. */
  collects?: boolean;
  /** Whether turns of the event loop are measured, too, which uses CPU time. */
  watches?: boolean;
  isTraced?: boolean;
  credentials?: Readonly<Record<string, string>>;
}

/** A gateway process that reports what each request uses. Requests are sent one after another. */
export async function tMeasuredGateway(env: Readonly<Record<string, string>>, heapMb = 512) {
  const { origin, ended, read } = await tMeteredGateway<'read' | 'collect' | 'watch', Reading>(
    'meter',
    [`--max-old-space-size=${heapMb}`, '--expose-gc'],
    { ANONYMOUS_SCOPES: 'bank-data+essays+cost', ...env },
  );

  return {
    async measure(
      request: FuzzRequest,
      { collects = false, watches = false, isTraced = false, credentials = {} }: MeasureOptions = {},
    ): Promise<Measurement> {
      const before = await read(watches ? 'watch' : collects ? 'collect' : 'read');
      const accepted = { 'content-type': 'application/json', 'accept-encoding': 'identity', 'x-cost': '1' };
      const trace = isTraced ? { 'apollo-federation-include-trace': 'ftv1' } : {};
      const version = request.message ? { 'mcp-protocol-version': '2025-11-25' } : {};
      const headers = { ...accepted, ...credentials, ...trace, ...version };
      const response = await Promise.race([
        fetch(`${origin}${request.message ? '/mcp' : '/graphql'}`, {
          method: 'POST',
          headers,
          body: JSON.stringify(request.message ?? request),
        }),
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
}

async function readOrigin(stdout: NodeJS.ReadableStream | null): Promise<string> {
  for await (const chunk of stdout ?? []) {
    const origin = /(http:\/\/\S+)\/graphql/.exec(String(chunk))?.[1];
    if (origin !== undefined) return origin;
  }
  throw new Error('the gateway did not start');
}
