import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type * as v8 from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it, vi } from 'vitest';
import type * as settings from '../../../src/base/process/heap-settings.ts';

const { flags } = vi.hoisted(() => ({ flags: [] as string[] }));
vi.mock('node:v8', async (importActual) => ({
  ...(await importActual<typeof v8>()),
  setFlagsFromString: (flag: string) => void flags.push(flag),
}));

it('lets the heap grow more until the second full collection', async () => {
  const { setFlagsFromString } = await vi.importActual<typeof v8>('node:v8');
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  // A module of its own: the one of other tests in this worker has the functions of Node.js.
  const file = fileURLToPath(new URL('../../../src/base/process/heap-settings.ts', import.meta.url));
  const { configureHeap }: typeof settings = await import(`${file}?mocked`);
  const before = '--heap-growing-percent=150';
  const after = '--heap-growing-percent=50';

  configureHeap();
  expect(flags).toEqual(['--no-allocation-site-pretenuring', before]);
  for (let count = 0; count < 4; count += 1) {
    collect();
    await setImmediate();
  }
  await vi.waitUntil(() => flags.includes(after), { timeout: 100_000 });
  expect(flags.slice(2)).toEqual([after]);
});
