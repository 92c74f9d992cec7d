import { existsSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { tSend } from '../support/gateway/http/listening-gateway.ts';
import { type TProcess, tGatewayProcess } from '../support/process.ts';

/* Resident memory, which only Linux tells. */

it.skipIf(!existsSync('/proc/self/status'))(
  'the process keeps no GraphiQL page, holds at most 64 MB of unfinished bodies, and serves other clients meanwhile',
  async () => {
    const env = { CLIENT_TIMEOUT_MS: '600000', NODE_OPTIONS: '--max-old-space-size=512' };
    const { process, origin, ask } = await tGatewayProcess(env);
    const headers = { accept: 'text/html', 'accept-encoding': 'br' };
    const visit = async () => {
      const { status, body } = await tSend(`${origin}/graphql`, { headers });
      expect(status).toBe(200);
      expect(body.byteLength).toBeGreaterThan(1_000_000);
    };
    // The first ones let the heap of a new process grow.
    for (let visits = 0; visits < 10; visits += 1) await visit();
    const visited = readMegabytes(process, 'VmRSS');
    for (let visits = 0; visits < 10; visits += 1) await visit();
    // Measured: 5 MB. Rendering, compressing and storing the page took 75 MB.
    expect(readMegabytes(process, 'VmRSS') - visited).toBeLessThan(30);

    const before = readMegabytes(process, 'VmHWM');
    const sockets = await Promise.all(Array.from({ length: 400 }, () => sendUnfinishedBody(origin)));
    const countOpen = () => sockets.filter(({ closed }) => !closed).length;
    await expect.poll(countOpen).toBeLessThan(70);
    expect(await ask('{ __typename }')).toEqual({ __typename: 'Query' });
    // Measured: 190 MB, and 400 MB without the limit.
    expect(readMegabytes(process, 'VmHWM') - before).toBeLessThan(300);
  },
);

/** @param name of the present or the largest resident memory: https://man7.org/linux/man-pages/man5/proc_pid_status.5.html */
function readMegabytes({ pid }: TProcess, name: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1_000;
}

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
