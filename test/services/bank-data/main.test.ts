import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from 'vitest';

const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function start(env: Record<string, string>) {
  const main = new URL('../../../src/services/bank-data/main.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, ['--import', 'tsx', main], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  const ended = Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]).then(
    ([[code, signal], stdout, stderr]) => ({ code, signal, stdout, stderr }),
  );
  return { child, ended };
}

it.each(['SIGTERM', 'SIGINT'] as const)('serves until %s, and says only where', async (signal) => {
  const { child, ended } = start({ BANK_DATA_API_KEY: 'right-key', BANK_DATA_SERVICE_PORT: '0' });
  const [line] = await once(child.stdout, 'data');
  const url = String(line).match(/^The bank-data service listens on (http:\/\/127\.0\.0\.1:\d+)\n$/)?.[1];
  const headers = { apikey: 'right-key' };
  const answer = await fetch(`${url}/bank_data/iban_validate?iban_number=DE89370400440532013000`, { headers });
  expect(await answer.json()).toMatchObject({ valid: true });
  child.kill(signal);
  expect(await ended).toEqual({ code: 0, signal: null, stdout: String(line), stderr: '' });
});

it('says in words what its configuration lacks', async () => {
  const { ended } = start({ BANK_DATA_SERVICE_PORT: 'many' });
  const { code, stdout, stderr } = await ended;
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain('BANK_DATA_API_KEY: missing');
  expect(stderr).toContain('BANK_DATA_SERVICE_PORT: must be a whole number');
  expect(stderr).not.toMatch(/^\s+at /m);
});

it('says in words that its port is taken', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const { code, stdout, stderr } = await start({
    BANK_DATA_API_KEY: 'right-key',
    BANK_DATA_SERVICE_PORT: String(port),
  }).ended;
  other.close();
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: '',
    stderr: `Cannot listen on 127.0.0.1, port ${port}: EADDRINUSE\n`,
  });
});
