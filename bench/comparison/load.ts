import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { loadCore, pin } from './pin.ts';

export interface LoadOptions {
  url: string;
  /** With placeholders, see Workload. */
  body: string;
  newIbans: number;
  /** Number of the first new IBAN. */
  firstIban: number;
  /** Connections, with one request at a time each. */
  callers: number;
  seconds: number;
}

/** Durations in microseconds. */
export interface LoadResult {
  requests: number;
  us: number;
  p50Us: number;
  p99Us: number;
  failed: number;
  timedOut: number;
}

const timeoutSeconds = 30;
export const hasWrk = spawnSync('wrk', ['-v']).error === undefined;

/** Runs the load in a process of its own. Throws if a request failed. */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerquill-load-'));
  try {
    const bodyFile = join(folder, 'body.json');
    writeFileSync(bodyFile, options.body);
    const [command, ...args] = pin(loadCore, hasWrk ? wrkCommand(options, bodyFile) : nodeCommand(options));
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
    const result = readResult(output);
    if (result.failed > 0) throw new Error(`${result.failed} of ${result.requests} requests failed`);
    if (result.timedOut > 0) process.stderr.write(`${result.timedOut} requests took more than ${timeoutSeconds} s\n`);
    return result;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function wrkCommand(
  { url, newIbans, firstIban, callers, seconds }: LoadOptions,
  bodyFile: string,
): [string, ...string[]] {
  const script = fileURLToPath(new URL('requests.lua', import.meta.url));
  const load = ['-t1', `-c${callers}`, `-d${seconds}s`, '--timeout', `${timeoutSeconds}s`, '-s', script, url];
  return ['wrk', ...load, '--', bodyFile, String(newIbans), String(firstIban)];
}

function nodeCommand(options: LoadOptions): [string, ...string[]] {
  const script = fileURLToPath(new URL('load-process.ts', import.meta.url));
  return [process.execPath, '--import', 'tsx', script, JSON.stringify(options)];
}

function readResult(output: string): LoadResult {
  const line = output.split('\n').findLast((each) => each.startsWith('{'));
  if (line === undefined) throw new Error(`the load failed: ${output}`);
  return JSON.parse(line);
}
