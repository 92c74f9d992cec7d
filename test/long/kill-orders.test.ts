import { describe, expect, it } from 'vitest';
import { tScript } from '../support/process.ts';
import { whyNoRedis } from '../support/redis.ts';

/* For more kills: npx tsx bench/kill-orders.ts --kills 30 */

describe('orders end once and are sent once, and the audit trail has all calls, while gateways are killed', () => {
  it('with the embedded store', () => killOrders('lmdb'));

  it.skipIf(whyNoRedis)(`with two processes that share a Redis${whyNoRedis}`, () =>
    killOrders('redis', '--restart-redis'),
  );
});

async function killOrders(store: string, ...options: string[]): Promise<void> {
  const args = [
    '--built',
    '--store',
    store,
    '--kills',
    '3',
    '--orders',
    '6',
    '--look-ups',
    '60',
    '--essay-ms',
    '1000',
    ...options,
  ];
  const program = tScript('bench/kill-orders.ts', {}, args);
  expect(await program.ended, program.stdout() + program.stderr()).toEqual({ code: 0, signal: null });
  expect(program.stdout()).toContain('All answers were correct.');
  expect(program.stdout()).toMatch(/\| api-key:shop \| [\d-]+ \| \d+/);
}
