import { existsSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { tGatewayProcess } from '../support/gateway-process.ts';

const isLinux = existsSync('/proc/self/status');

it.skipIf(!isLinux)('holds at most 64 MB of unfinished bodies, and serves other clients meanwhile', async () => {
  const env = { CLIENT_TIMEOUT_MS: '600000', NODE_OPTIONS: '--max-old-space-size=512' };
  const { process, origin, ask } = await tGatewayProcess(env);
  const before = readPeakMegabytes(process.pid);
  const sockets = await Promise.all(Array.from({ length: 400 }, () => sendUnfinishedBody(origin)));

  const countOpen = () => sockets.filter(({ closed }) => !closed).length;
  await expect.poll(countOpen, { timeout: 40_000 }).toBeLessThan(70);

  expect(await ask('{ __typename }')).toEqual({ __typename: 'Query' });
  // Measured: 190 MB, and 400 MB without the limit.
  expect(readPeakMegabytes(process.pid) - before).toBeLessThan(300);
});

/** @returns the connection once the gateway has received the bytes or closed it */
async function sendUnfinishedBody(url: string): Promise<Socket> {
  const { port, hostname, host } = new URL(url);
  const socket = connect(Number(port), hostname).resume();
  onTestFinished(() => void socket.destroy());
  const head = `POST /graphql HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: 990000\r\n\r\n`;
  await new Promise((resolve) => {
    socket.on('error', resolve).on('close', resolve);
    socket.write(head);
    socket.write(spaces, resolve);
  });
  return socket;
}

const spaces = Buffer.alloc(980_000, ' ');

function readPeakMegabytes(pid: number | undefined): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_000;
}
