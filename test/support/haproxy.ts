import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { tFreePort } from './free-port.ts';
import { tFolder } from './gateway/stores/folder.ts';
import { tProcess } from './process.ts';

/** Debian installs it outside the PATH of users. */
const command = existsSync('/usr/sbin/haproxy') ? '/usr/sbin/haproxy' : 'haproxy';

/** For titles of tests that need HAProxy: why they are skipped; empty if it is installed. */
export const whyNoHaproxy = spawnSync(command, ['-v']).error
  ? ' (SKIPPED: haproxy is missing; install the package haproxy)'
  : '';

/**
 * HAProxy in front of a server, on a free port. It cuts a response of which nothing has arrived for this time.
 * @param origin of the server
 * @returns its own origin
 */
export async function tHaproxy(origin: string, serverTimeoutMs: number): Promise<string> {
  const port = await tFreePort();
  const folder = tFolder();
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'haproxy.cfg');
  const lines = [
    'defaults',
    '  mode http',
    '  timeout connect 5s',
    '  timeout client 60s',
    `  timeout server ${serverTimeoutMs}ms`,
    'listen gateway',
    `  bind 127.0.0.1:${port}`,
    `  server gateway ${new URL(origin).host}`,
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  const proxy = tProcess(command, ['-db', '-f', file]);
  const url = `http://127.0.0.1:${port}`;
  const check = async () => expect((await fetch(`${url}/health`)).status, proxy.stderr()).toBe(200);
  await vi.waitFor(check, { interval: 20, timeout: 20_000 });
  return url;
}
