import { describe, expect, it, vi } from 'vitest';
import { createSealing, withSealing, withSecretCheck } from '../../../../src/gateway/stores/sealed-store.ts';
import { order, tEssay } from '../../../support/gateway/essays/generator.ts';
import { dayMs, from, pass, tProcess, useFakeTime } from '../../../support/gateway/essays/orders.ts';
import { createMemoryStore } from '../../../support/gateway/stores/memory-store.ts';

/* Orders after the secret of the store was replaced. */

const [first, second] = ['first-secret-of-the-store', 'second-secret-of-the-store'];

useFakeTime();

describe('after STORE_SECRET_OLD was removed, as the orders had expired', () => {
  /** A store that has had an order under the first secret, a month ago. */
  async function tReplaced() {
    const memory = createMemoryStore();
    const open = (present: string, old: string | null = null) => {
      const sealing = createSealing(() => present, old);
      return withSecretCheck(memory, sealing, withSealing(memory, sealing.loadKeys));
    };
    const before = tProcess(open(first));
    await before.write(order, 'An essay of the first secret.', 4_000);
    await before.close();
    await open(second, first).checkSecret();
    vi.setSystemTime(Date.now() + 31 * dayMs);
    return (old: string | null = null) => tProcess(open(second, old));
  }

  it('orders are accepted, although what all processes share is sealed with the old secret', async () => {
    const start = await tReplaced();
    const process = start();
    await process.write({ ...order, idempotencyKey: 'later' }, 'An essay of the second secret.', 4_000);
    expect(process.calls).toHaveLength(1);
    await process.close();
  });

  it('an order that another process has sent, which still has that secret, is paid for once', async () => {
    const start = await tReplaced();
    const one = start(first);
    const results = [one.generate(order, from())];
    await pass(4_000);
    expect(one.calls).toHaveLength(1);
    const other = start();
    results.push(other.generate(order, from()));
    await pass(10_000);
    const essay = tEssay('Once.');
    one.calls[0]?.answer(essay);
    await pass(5_000);
    expect(await Promise.all(results)).toEqual([essay, essay]);
    expect([one.calls.length, other.calls.length]).toEqual([1, 0]);
    await Promise.all([one.close(), other.close()]);
  });
});
