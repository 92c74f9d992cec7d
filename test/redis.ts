import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type TProcess, tProcess } from './process.ts';

/** For the names of tests that need the redis-server binary: why they are skipped, or nothing. */
export const whyNoRedis = spawnSync('redis-server', ['--version']).error
  ? ' (SKIPPED: there is no redis-server binary here; install the package redis-server)'
  : '';

export interface TRedis {
  url: string;
  port: number;
  /** Ends it at once; what it held is gone. */
  stop(): Promise<void>;
  /** Starts it again, empty, on the same port. */
  restart(): Promise<void>;
  /** Lets it accept connections, and answer nothing. */
  freeze(): void;
  thaw(): void;
}

/** A Redis of its own on a free port of the loopback interface, which answers by now and ends with the test. */
export async function tRedis({ password = '' }: { password?: string } = {}): Promise<TRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerquill-redis-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const args = ['--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'];
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

/** Tries again where somebody else took the port between asking for one and using it. */
async function onFreePort(start: (port: number) => Promise<TProcess>): Promise<{ server: TProcess; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    try {
      return { server: await start(port), port };
    } catch (error) {
      if (attempt === 5 || !/Address already in use/.test(String(error))) throw error;
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        address && typeof address === 'object' ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}
