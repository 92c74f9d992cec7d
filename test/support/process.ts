import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { accessSync, constants, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, buildSync } from 'esbuild';
import { afterAll, beforeAll, expect, onTestFinished, vi } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { writeFile } from '../../scripts/write-file.ts';
import { tFolder } from './gateway/stores/folder.ts';
import { tGateway } from './gateway.ts';
import { onFreePort, postJson } from './loopback.ts';

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

/** Starts a process that uses a store in this way. */
export function tStoreProcess(use: string, env: Record<string, string>): TProcess {
  return tScript('test/support/gateway/stores/child-process.ts', env, [use]);
}

/** Lets a process use a store in this way. @returns what it printed */
export async function useStoreElsewhere(use: string, env: Record<string, string>): Promise<string> {
  const { ended, stdout, stderr } = tStoreProcess(use, env);
  expect(await ended).toEqual({ code: 0, signal: null });
  expect(stderr()).toBe('');
  return stdout();
}

/** The lines of JSON that a process has printed once it has exited with 0. */
export async function readJsonLines<Line>({ ended, stdout, stderr }: TProcess): Promise<Line[]> {
  expect(await ended, stderr()).toEqual({ code: 0, signal: null });
  const lines = stdout().trim().split('\n');
  return lines.map((line) => JSON.parse(line));
}

/** Starts something slow once for all tests of a group, and ends it after them. @returns a function that returns it */
export function tShared<Shared>(start: (onFinished: OnFinished) => Promise<Shared>): () => Shared {
  const cleanUps: (() => void | Promise<void>)[] = [];
  let shared: Shared;
  beforeAll(async () => {
    shared = await start((cleanUp) => cleanUps.push(cleanUp));
  });
  afterAll(async () => {
    for (const cleanUp of cleanUps.reverse()) await cleanUp();
  });
  return () => shared;
}

interface WrittenEssay {
  id: string;
  text: string;
}

/** A gateway, as clients use it. */
export interface GatewayClient {
  /** @returns the data of the answer. Rejects if there are errors or no answer. */
  ask<Data>(query: string, variables?: object, operationName?: string): Promise<Data>;
  /**
   * Orders an essay about this topic, under this idempotency key, again and again while the gateway cannot make sure that it is paid
   * for once: a store on a busy machine may not respond in time. Rejects if the order fails.
   */
  order(topic: string, idempotencyKey?: string, options?: OrderOptions): Promise<WrittenEssay>;
  /** The calls it has counted this month. */
  counted(service: 'ESSAYS' | 'BANK_DATA'): Promise<number>;
}

export interface GatewayProcess extends GatewayClient {
  process: TProcess;
  /** Of its port, without a path. */
  origin: string;
  /** Null without METRICS_PORT. */
  metricsUrl: string | null;
  /** Resolves when new connections are refused. */
  untilRefused(): Promise<void>;
}

/** Variables with which it never calls an upstream. Without URLs, it would start its self-hosted services. */
export const noUpstreams = {
  BANK_DATA_URL: 'http://127.0.0.1:9',
  BANK_DATA_API_KEY: 'seeded-key-1',
  ESSAY_URL: 'http://127.0.0.1:9',
  ESSAY_API_KEY: 'seeded-key-2',
};

/** Starts a gateway on a free port. Resolves when it listens. */
export function tGatewayProcess(env: Record<string, string> = {}): Promise<GatewayProcess> {
  return untilReady(tScript('src/cli/main.ts', { PORT: '0', ...env }));
}

/** The variables of gateways that share nothing but a Redis. */
export const sharing = (redis: { url: string }) => ({ REDIS_URL: redis.url, STORE_SECRET: 'a-secret-that-all-share' });

/** Two gateways in this process that share nothing but a Redis. */
export function tReplicas(redis: { url: string }, options: Parameters<typeof tGateway>[0] = {}) {
  const env = { LOG_LEVEL: 'warn', ...sharing(redis), ...options.env };
  const start = async () => tClientOf(await tGateway({ ...options, env }).listen());
  return Promise.all([start(), start()]);
}

/** Resolves when the process listens. */
export async function untilReady(process: TProcess): Promise<GatewayProcess> {
  const [line] = await process.printed(/^\{.*"msg":"Ledgerquill is ready\."\}$/m);
  const { GraphiQL, GraphQL = GraphiQL, metrics: metricsUrl = null } = JSON.parse(line);
  const origin = GraphQL.replace('/graphql', '');

  return {
    ...tClientOf(origin),
    process,
    origin,
    metricsUrl,
    async untilRefused() {
      const isListening = () => fetch(`${origin}/health`, { headers: { connection: 'close' } }).then(() => true);
      while (await isListening().catch(() => false));
    },
  };
}

function tClientOf(origin: string): GatewayClient {
  async function ask<Data>(query: string, variables: object = {}, operationName?: string): Promise<Data> {
    const body = { query, variables, operationName };
    const answer = await postJson<{ data: Data; errors?: unknown }>(`${origin}/graphql`, body);
    if (answer.errors) throw new Error(JSON.stringify(answer));
    return answer.data;
  }

  return {
    ask,
    async order(topic, idempotencyKey, options) {
      for (;;) {
        const data = await ask<OrderData>(orderMutation, orderVariables(topic, idempotencyKey, options));
        const essay = readEssay(data);
        if (essay) return essay;
        const problem = JSON.stringify(data);
        if (!problem.includes('cannot make sure')) throw new Error(problem);
      }
    },
    async counted(service) {
      const { allowances } = await ask<Counts>('{ allowances { service used } }');
      return allowances.find((allowance) => allowance.service === service)?.used ?? Number.NaN;
    },
  };
}

interface Counts {
  allowances: { service: string; used: number }[];
}

export const orderMutation = `mutation ($input: GenerateEssayInput!) {
  generateEssay(input: $input) { ... on Essay { id text } ... on UserError { message } }
}`;

interface OrderOptions {
  orderAgain?: boolean;
}

export function orderVariables(topic: string, idempotencyKey?: string, options: OrderOptions = {}) {
  return { input: { description: topic, wordCount: 500, idempotencyKey, ...options } };
}

interface OrderData {
  generateEssay: Partial<WrittenEssay>;
}

/** The essay, or null if the order failed. */
export function readEssay({ generateEssay: { id, text } }: OrderData): WrittenEssay | null {
  return id === undefined || text === undefined ? null : { id, text };
}

/** For titles of tests that need HAProxy: why they are skipped; empty if it is installed. */
export const whyNoHaproxy = whyMissing('haproxy');

interface HaproxyOptions {
  /** In HAProxy's notation. It cuts a response of which nothing has arrived for this time. */
  serverTimeout: string;
  /** Other lines of the section with the servers. */
  lines?: readonly string[];
}

/** HAProxy in front of servers, by their ports, on a free port. @returns its origin once one of them is ready */
export async function tHaproxy(
  ports: readonly (number | string)[],
  { serverTimeout, lines = [] }: HaproxyOptions,
): Promise<string> {
  const file = join(tFolder(), 'haproxy.cfg');
  const servers = ports.map((port, index) => `server gateway-${index} 127.0.0.1:${port}`);
  const { port } = await onFreePort(async (port) => {
    const defaults = ['mode http', 'timeout connect 5s', 'timeout client 60s', `timeout server ${serverTimeout}`];
    const section = [`bind 127.0.0.1:${port}`, ...lines, ...servers];
    writeFileSync(file, ['defaults', ...defaults, 'listen gateways', ...section, ''].join('\n'));
    const server = tProcess(findProgram('haproxy') ?? '', ['-db', '-f', file]);
    await server.responds(`http://127.0.0.1:${port}/ready`);
    return server;
  });
  return `http://127.0.0.1:${port}`;
}

/** The path of a program; null if it is not installed. Debian installs some outside the PATH of users. */
export function findProgram(name: string): string | null {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin'];
  const paths = name.includes('/') ? [name] : folders.map((folder) => join(folder, name));
  return paths.find(isExecutable) ?? null;
}

/** For titles of tests that need a program: why they are skipped; empty if it is installed. */
export function whyMissing(program: string, packageName = program): string {
  return findProgram(program) === null ? ` (SKIPPED: ${program} is missing; install the package ${packageName})` : '';
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
