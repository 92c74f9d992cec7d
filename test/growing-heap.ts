import { setImmediate } from 'node:timers/promises';
import { getHeapSpaceStatistics } from 'node:v8';
import { limitHeapGrowth } from '../src/heap-growth.ts';

/* Keeps a little of the garbage of each turn for a while, as a gateway does, and prints the size of the young generation. */

limitHeapGrowth();
const kept: object[][] = [];
for (let turn = 0; turn < 2_000; turn += 1) {
  kept[turn % 200] = Array.from({ length: 1_000 }, (_, index) => ({ index }));
  await setImmediate();
}
process.stdout.write(`${getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')?.space_size}\n`);
