import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { tIban } from '../support/ibans.ts';
import { bundleScript, noUpstreams, tGatewayProcess } from '../support/process.ts';
import { replyJson, tUpstream } from '../support/scripted-upstream.ts';

/* Gateways whose clock is wrong for a time, with the embedded store. */

const essay = 'Pens hold ink, and they hold it well for a long time. '.repeat(20);
const dayMs = 86_400_000;

async function tClocked() {
  const upstream = await tUpstream(replyJson(200, { valid: true, essay }));
  const folder = tFolder();
  const CLOCK_FILE = join(folder, 'ahead');
  const setAhead = (ms: number) => writeFileSync(CLOCK_FILE, String(ms));
  /** Of a process that runs. */
  const step = async (ms: number) => {
    setAhead(ms);
    await vi.waitUntil(
      () => existsSync(`${CLOCK_FILE}-set`) && readFileSync(`${CLOCK_FILE}-set`, 'utf8') === String(ms),
      { timeout: 100_000 },
    );
  };
  setAhead(0);
  const env = {
    ...noUpstreams,
    BANK_DATA_URL: upstream.url,
    ESSAY_URL: upstream.url,
    BANK_DATA_MONTHLY_ALLOWANCE: '10',
    DATA_DIR: join(folder, 'data'),
    CLOCK_FILE,
    NODE_OPTIONS: `--import=${bundleScript('test/support/e2e/stepped-clock.ts')}`,
  };
  return { upstream, setAhead, step, start: () => tGatewayProcess(env) };
}

it('has one allowance for the calls before and after a restart with the clock set back from the next month', async () => {
  const { setAhead, start, upstream } = await tClocked();
  const today = new Date();
  setAhead(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, 2) - today.getTime());
  const ahead = await start();
  for (const number of [1, 2, 3]) await ahead.ask(`{ ibanValidation(iban: "${tIban(number)}") { valid } }`);
  expect(await ahead.counted('BANK_DATA')).toBe(3);
  ahead.process.kill('SIGTERM');
  await ahead.process.ended;
  setAhead(0);
  const after = await start();
  expect(await after.counted('BANK_DATA')).toBe(3);
  await after.ask(`{ ibanValidation(iban: "${tIban(4)}") { valid } }`);
  expect([await after.counted('BANK_DATA'), upstream.calls.length]).toEqual([4, 4]);
});

it('pays for no essay again after the clock was set 31 days ahead, and back', async () => {
  const { step, start, upstream } = await tClocked();
  const gateway = await start();
  const first = await gateway.order('Pens', 'form-1');
  await step(31 * dayMs);
  // Each write removes what has expired.
  const second = await gateway.order('Ink', 'form-2');
  expect(await gateway.order('Pens', 'form-1')).toEqual(first);
  await step(0);
  expect([await gateway.order('Pens', 'form-1'), await gateway.order('Ink', 'form-2')]).toEqual([first, second]);
  expect(upstream.calls).toHaveLength(2);
});
