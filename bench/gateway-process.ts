import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectInspector, type Inspector } from './inspector.ts';

export interface GatewayProcess {
  url: string;
  /** Null without METRICS_PORT. */
  metricsUrl: string | null;
  pid: number;
  /** Log lines so far; `time` is in milliseconds since the epoch. */
  log: { time: number; msg: string; level: number; err?: { stack?: string } }[];
  /** In MB; null without /proc. */
  memory(): Memory | null;
  /** Connects to the inspector, for which the gateway opens files. */
  inspect<Result>(use: (inspector: Inspector) => Promise<Result>): Promise<Result>;
  /** Number of open files, and of sockets among them; null without /proc. */
  openFiles(): { all: number; sockets: number } | null;
  /** Sends SIGTERM. @returns its exit code */
  close(): Promise<number | null>;
  /** Sends SIGKILL. A data folder of the caller is kept. */
  kill(): Promise<void>;
}

export interface Memory {
  rss: number;
  /** Heap and buffers. */
  anonymous: number;
  /** Mapped files: the program and the embedded store. */
  file: number;
}

const root = fileURLToPath(new URL('..', import.meta.url));

/** Same as in the Docker image; overridden by GATEWAY_NODE_OPTIONS. */
const imageNodeOptions = '--max-old-space-size=512';

// Gateways are killed at the exit.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

interface GatewayOptions {
  nodeOptions?: readonly string[];
  /** Whether to run the files of `src` rather than the build, in which they are merged. */
  fromSource?: boolean;
  /** Whether the build is up to date. */
  isBuilt?: boolean;
}

/**
 * Builds the gateway and runs it with only the given environment and options of Node.js, and, unless the environment has a
 * DATA_DIR, an empty data folder.
 */
export async function startGateway(
  env: Readonly<Record<string, string>>,
  { nodeOptions = [], fromSource = false, isBuilt = fromSource }: GatewayOptions = {},
): Promise<GatewayProcess> {
  if (!isBuilt) buildGateway();
  const dataDir = mkdtempSync(join(tmpdir(), 'ledgerquill-bench-'));
  const { PATH = '', GATEWAY_NODE_OPTIONS: ownOptions = imageNodeOptions } = process.env;
  const program = fromSource ? ['--import', 'tsx', 'src/cli/main.ts'] : ['dist/main.js'];
  const child = spawn(process.execPath, program, {
    cwd: root,
    env: {
      PATH,
      NODE_OPTIONS: ['--inspect-port=127.0.0.1:0', ownOptions, ...nodeOptions].join(' '),
      PORT: '0',
      DATA_DIR: dataDir,
      LOG_LEVEL: 'info',
      SHUTDOWN_DELAY_MS: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const killGateway = () => {
    child.kill('SIGKILL');
    rmSync(dataDir, { recursive: true, force: true });
  };
  process.once('exit', killGateway);

  const log: GatewayProcess['log'] = [];
  let rest = '';
  let inspectorUrl: string | undefined;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      inspectorUrl = line.match(/^Debugger listening on (\S+)/)?.[1] ?? inspectorUrl;
      if (!/^(Debugger|For help)/.test(line)) log.push(readLine(line));
    }
  });
  const urls = await Promise.race([findUrls(child.stdout), ended]);
  if (typeof urls !== 'object' || urls === null)
    throw new Error(`the gateway did not start: ${log.map(({ msg }) => msg).join('\n')}`);
  const pid = child.pid ?? 0;

  return {
    ...urls,
    pid,
    log,
    memory: () => readMemory(pid),
    async inspect(use) {
      // SIGUSR1 opens the inspector, on a free port.
      if (inspectorUrl === undefined) child.kill('SIGUSR1');
      while (inspectorUrl === undefined) await once(child.stderr, 'data');
      const inspector = await connectInspector(inspectorUrl);
      try {
        return await use(inspector);
      } finally {
        inspector.close();
      }
    },
    openFiles: () => readOpenFiles(pid),
    async close() {
      child.kill('SIGTERM');
      const code = await ended;
      process.off('exit', killGateway);
      rmSync(dataDir, { recursive: true });
      return code;
    },
    async kill() {
      killGateway();
      await ended;
      process.off('exit', killGateway);
    },
  };
}

export function buildGateway(): void {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: ['ignore', 'inherit', 'ignore'] });
}

/** In the line of JSON that the gateway prints when it is ready. */
async function findUrls(stdout: NodeJS.ReadableStream): Promise<{ url: string; metricsUrl: string | null }> {
  let text = '';
  for await (const chunk of stdout) {
    text += chunk;
    const line = /^\{.*"msg":"Ledgerquill is ready\."\}$/m.exec(text)?.[0];
    if (line === undefined) continue;
    const { GraphiQL, GraphQL = GraphiQL, metrics = null } = JSON.parse(line);
    return { url: GraphQL, metricsUrl: metrics };
  }
  return new Promise(() => {});
}

/** Other output than log lines, such as a crash, is treated as an error. */
function readLine(line: string): GatewayProcess['log'][number] {
  try {
    return JSON.parse(line);
  } catch {
    return { time: Date.now(), msg: line, level: 50 };
  }
}

export function readMemory(pid: number): Memory | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const mb = (name: string) => (Number(status.match(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm'))?.[1]) * 1_024) / 1e6;
    return { rss: mb('VmRSS'), anonymous: mb('RssAnon'), file: mb('RssFile') };
  } catch {
    return null;
  }
}

/** User and system time, in ticks of 10 ms: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
export function readCpuS(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function readOpenFiles(pid: number): { all: number; sockets: number } | null {
  try {
    const files = readdirSync(`/proc/${pid}/fd`);
    return { all: files.length, sockets: files.filter((file) => isSocket(`/proc/${pid}/fd/${file}`)).length };
  } catch {
    return null;
  }
}

function isSocket(path: string): boolean {
  try {
    return readlinkSync(path).startsWith('socket:');
  } catch {
    return false;
  }
}
