import { expect, it } from 'vitest';
import { createRandom } from '../support/e2e/random.ts';
import { compareWithOrdinary, findWorstDocument } from '../support/fuzz/worst-document.ts';

/*
 * No document of 16 KB takes more than 25 ms of CPU to be prepared, or refused. Where other tests share the cores, it may take 50 ms,
 * or three times as long as an ordinary document. A longer search:
 *   LONG_TESTS=1 WORST_DOCUMENT_ROUNDS=5000 FUZZ_SEED=7 npx vitest run test/long/worst-document.test.ts
 */

const { WORST_DOCUMENT_ROUNDS, FUZZ_SEED } = process.env;
const rounds = Number(WORST_DOCUMENT_ROUNDS ?? 20);
const seed = Number(FUZZ_SEED ?? 1);
const maxMs = 50;

it.each([
  ['accepted', true],
  ['refused', false],
])(
  `the worst %s document is prepared quickly (seed ${seed})`,
  { timeout: 300_000 + rounds * 200 },
  (kind, isAccepted) => {
    const worst = findWorstDocument(createRandom(seed), rounds, isAccepted);
    if (WORST_DOCUMENT_ROUNDS !== undefined) {
      process.stdout.write(`${kind}: ${worst.ms.toFixed(1)} ms, ${worst.text.length} characters, ${worst.error}\n`);
    }
    // A search that measures nothing would find nothing.
    expect(worst.ms).toBeGreaterThan(0);
    expect(worst.text.length).toBeGreaterThan(500);
    expect(worst.error === null).toBe(isAccepted);
    const { ms, ordinaryMs } = compareWithOrdinary(worst.text);
    expect(ms, worst.text.slice(0, 2_000)).toBeLessThan(Math.max(maxMs, 3 * ordinaryMs));
  },
);
