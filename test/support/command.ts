import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { tFolder } from './gateway/stores/folder.ts';

export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * Runs the `ledgerquill` command in this process, which takes a tenth of the time of one of its own, with no environment variables
 * but `env`, PATH and HOME. Neither the data folder nor the `.env` of the checkout is used. `tCommand` is for commands that receive
 * signals, serve, or are measured.
 */
export function runCommand(
  args: readonly string[],
  env: Record<string, string> = {},
  input = '',
): Promise<CommandResult> {
  return runInTurn('ledgerquill.ts', args, env, input);
}

/** In the same way, a gateway that does not start. */
export function runFailingStart(env: Record<string, string>): Promise<CommandResult> {
  return runInTurn('main.ts', [], env);
}

/** Commands use what a process has only once, so they run one after the other. */
let last: Promise<unknown> = Promise.resolve();
let runs = 0;

function runInTurn(
  file: string,
  args: readonly string[],
  env: Record<string, string>,
  input = '',
): Promise<CommandResult> {
  const path = fileURLToPath(new URL(`../../src/cli/${file}`, import.meta.url));
  const variables = { DATA_DIR: env.DATA_DIR ?? tFolder(), ENV_FILE: '', ...env };
  const result = last.then(() => {
    runs += 1;
    // Each run evaluates the file again.
    return run(`${path}?run=${runs}`, args, variables, input);
  });
  last = result.catch(() => {});
  return result;
}

async function run(module: string, args: readonly string[], variables: Record<string, string>, input: string) {
  const { argv, env, exitCode } = process;
  const { error, warn } = console;
  const { PATH = '', HOME = '' } = env;
  const descriptors = streams.map((name) => [name, Object.getOwnPropertyDescriptor(process, name) ?? {}] as const);
  const listeners = signals.map((signal) => [signal, process.listeners(signal)] as const);
  const replaced = { stdin: Readable.from([Buffer.from(input)]), stdout: new PassThrough(), stderr: new PassThrough() };
  const outputs = Promise.all([text(replaced.stdout), text(replaced.stderr)]);
  try {
    for (const name of streams) Object.defineProperty(process, name, { value: replaced[name], configurable: true });
    process.argv = ['node', 'ledgerquill', ...args];
    process.env = { PATH, HOME, ...variables };
    process.exitCode = undefined;
    await import(module);
    const code = Number(process.exitCode ?? 0);
    replaced.stdout.end();
    replaced.stderr.end();
    const [stdout, stderr] = await outputs;
    return { code, stdout, stderr };
  } finally {
    for (const [name, descriptor] of descriptors) Object.defineProperty(process, name, descriptor);
    for (const [signal, before] of listeners) {
      for (const listener of process.listeners(signal)) if (!before.includes(listener)) process.off(signal, listener);
    }
    Object.assign(process, { argv, env, exitCode });
    Object.assign(console, { error, warn });
  }
}

const streams = ['stdin', 'stdout', 'stderr'] as const;
const signals = ['SIGINT', 'SIGTERM', 'SIGUSR2'] as const;

/** The text that a stream has buffered. Since Node.js 26, `read()` returns one chunk of it. */
export function readAll(stream: Readable): string {
  let text = '';
  for (let chunk = stream.read(); chunk !== null; chunk = stream.read()) text += String(chunk);
  return text;
}
