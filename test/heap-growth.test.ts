import { expect, it } from 'vitest';
import { tScript } from './process.ts';

it('limits the young generation', async () => {
  const { printed } = tScript('test/growing-heap.ts');
  const [, bytes] = await printed(/^(\d+)\n/);
  // 32 MB without the limit. It may grow once more before the limit applies.
  expect(Number(bytes)).toBeGreaterThanOrEqual(4_000_000);
  expect(Number(bytes)).toBeLessThan(20_000_000);
});
