import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onFreePort } from './free-port.ts';
import { tFolder } from './gateway/stores/folder.ts';
import { findProgram, whyMissing } from './installed.ts';
import { tProcess } from './process.ts';

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
