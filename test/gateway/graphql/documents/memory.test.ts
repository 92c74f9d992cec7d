import { expect, it } from 'vitest';
import type { DocumentMemory } from '../../../support/gateway/graphql/document-memory.ts';
import { bundleScript, readJsonLines, tProcess } from '../../../support/process.ts';

it('the caches of documents count about the memory that they take', async () => {
  const script = bundleScript('test/support/gateway/graphql/document-memory.ts');
  const child = tProcess(process.execPath, ['--expose-gc', script]);
  const kinds = await readJsonLines<DocumentMemory>(child);
  expect(kinds).toHaveLength(7);
  for (const { name, countedMb, heapMb } of kinds) {
    expect(countedMb, `${name}: MB counted`).toBeGreaterThan(3);
    expect(heapMb / countedMb, `${name}: MB of the heap per MB counted`).toBeGreaterThan(0.5);
    expect(heapMb / countedMb, `${name}: MB of the heap per MB counted`).toBeLessThan(1.5);
  }
});
