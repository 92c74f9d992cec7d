import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { createTextPool } from '../../src/bank-data/rest/text-pool.ts';

it('returns equal texts, also after it was emptied', () => {
  const pool = createTextPool(2);
  const texts = ['Commerzbank', 'COBADEFFXXX', 'Commerzbank', 'DE2!n8!n10!n', '', 'Commerzbank', 'x'.repeat(1_000)];
  expect(texts.map(pool)).toEqual(texts);
  expect(pool(null)).toBeNull();
});

it('keeps one copy of equal texts, and no more texts than it may', () => {
  const pool = createTextPool(1_000);
  const kept: string[] = [];
  const addedBytes = heapGrowth(() => {
    for (let count = 0; count < 100_000; count += 1) {
      kept.push(pool(parsed('^DE(\\d{2})(\\d{8})(\\d{10})$ and its description, of a hundred characters')));
      pool(parsed(`The bank with the number ${count}, of which only the latest are in the pool`));
    }
  });
  expect(kept).toHaveLength(100_000);
  // Separate copies of either would take about 10 MB.
  expect(addedBytes).toBeLessThan(4e6);
});

/** A string of its own, as from a response. */
function parsed(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}

function heapGrowth(run: () => void): number {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  run();
  collectGarbage();
  return process.memoryUsage().heapUsed - before;
}
