import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, buildSync } from 'esbuild';
import { expect, onTestFinished, vi } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { writeFile } from '../../scripts/write-file.ts';
import { tFolder } from './gateway/stores/folder.ts';

export interface TProcess {
  pid: number | undefined;
  /** Standard output so far. */
  stdout: () => string;
  stderr: () => string;
  /** Waits until standard output matches; rejects with the whole output if the process ends before. */
  printed(pattern: RegExp): Promise<RegExpMatchArray>;
  /** Waits until this URL responds 200; rejects with the whole output if the process ends before. */
  responds(url: string): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  /** Resolves once the process has ended and its output was read. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

const { scripts } = packageJson;
const root = fileURLToPath(new URL('../..', import.meta.url));

/** Registers a function that is called when the test, or a group of tests, ends. */
export type OnFinished = (cleanUp: () => void | Promise<void>) => void;

/**
 * Runs a command in the project's root, with no environment variables but `env`, PATH and HOME; killed when the test ends.
 * Neither the data folder nor the `.env` of the checkout is used.
 */
export function tProcess(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
  onFinished: OnFinished = onTestFinished,
): TProcess {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(command, args, {
    cwd: root,
    env: { PATH, HOME, DATA_DIR: env.DATA_DIR ?? tFolder(onFinished), ENV_FILE: '', SHUTDOWN_DELAY_MS: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Its own process group, so that the children of npm are killed, too.
    detached: true,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  onFinished(async () => {
    if (child.exitCode === null && child.signalCode === null && child.pid) process.kill(-child.pid, 'SIGKILL');
    await ended;
  });

  return {
    pid: child.pid,
    stdout: () => stdout,
    stderr: () => stderr,
    async responds(url) {
      const isResponding = () =>
        fetch(url).then(
          ({ status }) => status === 200,
          () => false,
        );
      const ready = vi.waitUntil(isResponding, { interval: 20, timeout: 100_000 });
      const isReady = await Promise.race([ready, ended.then(() => false)]);
      if (!isReady) throw new Error(`ended before ${url} responded:\n${stdout}${stderr}`);
    },
    async printed(pattern) {
      for (;;) {
        const match = stdout.match(pattern);
        if (match) return match;
        const end = await Promise.race([once(child.stdout, 'data').then(() => null), ended]);
        if (end)
          throw new Error(`ended with ${end.code ?? end.signal} before it printed ${pattern}:\n${stdout}${stderr}`);
      }
    },
    kill: (signal) => void child.kill(signal),
    ended,
  };
}

/**
 * Runs a TypeScript file of the project: files of `src` from the build, those of tests from a bundle, which starts three times as
 * fast, others through tsx.
 */
export function tScript(file: string, env: Record<string, string> = {}, args: readonly string[] = []): TProcess {
  return tProcess(process.execPath, [...argumentsOf(file), ...args], env);
}

function argumentsOf(file: string): string[] {
  if (file === 'src/cli/main.ts') return ['dist/main.js'];
  if (file.startsWith('src/')) return [file.replace(/^src\/(.+)\.ts$/, 'dist/$1.js')];
  return file.startsWith('test/') ? [bundleScript(file)] : ['--import', 'tsx', file];
}

/** Runs a script of package.json on the build of these tests, without npm. */
export function tNpmScript(name: keyof typeof scripts, env: Record<string, string> = {}): TProcess {
  expect(scripts[`pre${name}` as keyof typeof scripts]).toBe('tsx scripts/build.ts');
  return tProcess('sh', ['-c', scripts[name]], env);
}

/** Bundles a file without its packages. @returns the path of the bundle, where Node.js finds them */
export function bundleScript(file: string): string {
  const { outputFiles } = buildSync({ ...bundleOptions, entryPoints: [join(root, file)] });
  const content = outputFiles[0]?.contents ?? Buffer.of();
  const name = createHash('sha256').update(content).digest('hex').slice(0, 16);
  const path = join(root, `node_modules/.cache/scripts/${name}.js`);
  mkdirSync(dirname(path), { recursive: true });
  writeFile(path, content);
  return path;
}

const bundleOptions = {
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  write: false,
} as const satisfies BuildOptions;

/** Runs the `ledgerquill` command. */
export function tCommand(args: readonly string[], env: Record<string, string> = {}): TProcess {
  return tScript('src/cli/ledgerquill.ts', env, args);
}

/** The lines of JSON that a process has printed once it has exited with 0. */
export async function readJsonLines<Line>({ ended, stdout, stderr }: TProcess): Promise<Line[]> {
  expect(await ended, stderr()).toEqual({ code: 0, signal: null });
  const lines = stdout().trim().split('\n');
  return lines.map((line) => JSON.parse(line));
}
