import { describe, expect, it } from 'vitest';
import { tScript } from '../support/process.ts';
import { whyNoRedis } from '../support/redis.ts';

/* For more kills: npx tsx bench/kill-orders.ts --kills 30 */

describe('orders end once and are sent once, while gateways are killed', () => {
  it('with the embedded store', () => killOrders('lmdb'));

  it.skipIf(whyNoRedis)(`with two processes that share a Redis${whyNoRedis}`, () => killOrders('redis'));
});

async function killOrders(store: string): Promise<void> {
  const args = ['--built', '--store', store, '--kills', '3', '--orders', '6', '--essay-ms', '1000'];
  const program = tScript('bench/kill-orders.ts', {}, args);
  expect(await program.ended, program.stdout() + program.stderr()).toEqual({ code: 0, signal: null });
  expect(program.stdout()).toContain('All answers were correct.');
}
