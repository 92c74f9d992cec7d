import { expect, it } from 'vitest';
import { countFunctions, measurePaths } from '../bench/path-length.ts';

/** In `src`, for one request. Lower them when a path gets shorter; `npx tsx bench/path-length.ts --list` shows them. */
const limits = [
  // The audit trail is on the paths of the calls that are paid for, and a look-up is compared with the purges.
  { kind: 'cold IBAN', files: 61, functions: 257 },
  { kind: 'cached IBAN', files: 42, functions: 129 },
  { kind: 'kept reply', files: 20, functions: 62 },
  { kind: 'essay', files: 65, functions: 328 },
] as const;

it('the paths of requests through the source do not grow', async () => {
  const paths = await measurePaths();
  for (const { kind, files, functions } of limits) {
    expect(paths[kind].size, `files of a ${kind}`).toBeLessThanOrEqual(files);
    expect(countFunctions(paths[kind]), `functions of a ${kind}`).toBeLessThanOrEqual(functions);
    // A path that is not measured would be short.
    expect(paths[kind].has('gateway/http/request-handler.ts')).toBe(true);
  }
});
