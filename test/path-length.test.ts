import { expect, it } from 'vitest';
import { listLength, measurePaths } from '../bench/path-length.ts';

/**
 * The most for one request over HTTP: promises of the whole process, and files of `src`. Of a list, the promises for each IBAN. Lower them
 * when a path gets shorter; `npx tsx bench/path-length.ts --list` shows them.
 */
const limits = [
  { kind: 'cold IBAN', files: 51, promises: 15, items: 1 },
  { kind: 'cold list', files: 59, promises: 7, items: listLength },
  { kind: 'kept reply', files: 18, promises: 2, items: 1 },
  { kind: 'essay', files: 60, promises: 186, items: 1 },
] as const;

it('requests create few promises, pass few files, and leave little memory for the full garbage collection', async () => {
  const { paths, bytesLeft } = await measurePaths();
  // An entry of the cache has about 1,000; it was 10,800 with hidden classes and whole requests.
  expect(bytesLeft, 'bytes of a cold IBAN').toBeLessThan(3_000);
  expect(bytesLeft).toBeGreaterThan(200);
  for (const { kind, files, promises, items } of limits) {
    const path = paths[kind];
    expect(path.promises / items, `promises of a ${kind}`).toBeLessThanOrEqual(promises);
    expect(path.functions.size, `files of a ${kind}`).toBeLessThanOrEqual(files);
    // A path that is not measured would be short.
    expect(path.functions.has('gateway/http/request-handler.ts')).toBe(true);
    expect(path.promises > 0 || kind === 'kept reply').toBe(true);
  }
});
