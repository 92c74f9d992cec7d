import { spawnSync } from 'node:child_process';
import { tFreePort } from './free-port.ts';
import { type TProcess, tProcess } from './process.ts';
import { tFolder } from './stores/folder.ts';

/** For titles of tests that need the redis-server binary: why they are skipped; empty if it is installed. */
export const whyNoRedis = spawnSync('redis-server', ['--version']).error
  ? ' (SKIPPED: the redis-server binary is missing; install the package redis-server)'
  : '';

export interface TRedis {
  url: string;
  port: number;
  /** Kills it; its data is lost unless it is durable. */
  stop(): Promise<void>;
  /** Kills it and starts it again on the same port, empty unless it is durable. */
  restart(): Promise<void>;
  /** It accepts connections but no longer responds. */
  freeze(): void;
  thaw(): void;
}

interface RedisOptions {
  password?: string;
  /** Whether it writes its data to disk, as in production. */
  isDurable?: boolean;
}

/** A running Redis server on a free port of the loopback interface; killed when the test ends. */
export async function tRedis({ password = '', isDurable = false }: RedisOptions = {}): Promise<TRedis> {
  const appendOnly = isDurable ? 'yes' : 'no';
  const args = ['--bind', '127.0.0.1', '--dir', tFolder(), '--save', '', '--appendonly', appendOnly];
  const auth = password === '' ? [] : ['--requirepass', password];

  async function start(port: number): Promise<TProcess> {
    const server = tProcess('redis-server', [...args, ...auth, '--port', String(port)]);
    await server.printed(/Ready to accept connections/);
    return server;
  }

  const { server: first, port } = await onFreePort(start);
  let server = first;
  return {
    url: `redis://${password === '' ? '' : `:${password}@`}127.0.0.1:${port}`,
    port,
    async stop() {
      server.kill('SIGKILL');
      await server.ended;
    },
    async restart() {
      server.kill('SIGKILL');
      await server.ended;
      server = await start(port);
    },
    freeze: () => server.kill('SIGSTOP'),
    thaw: () => server.kill('SIGCONT'),
  };
}

/** Retries if another process took the port between finding and using it. */
async function onFreePort(start: (port: number) => Promise<TProcess>): Promise<{ server: TProcess; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = await tFreePort();
    try {
      return { server: await start(port), port };
    } catch (error) {
      if (attempt === 5 || !/Address already in use/.test(String(error))) throw error;
    }
  }
}
