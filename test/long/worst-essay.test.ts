import { expect, it } from 'vitest';
import { createRandom } from '../support/e2e/random.ts';
import { findWorst } from '../support/fuzz/worst-answer.ts';
import { essaySearch } from '../support/fuzz/worst-essay.ts';

/*
 * No answer of an essay service takes more than 25 ms of CPU to be read (50 ms where other tests share the cores). A longer search:
 *   LONG_TESTS=1 FUZZ_ESSAYS=2000 FUZZ_SEED=7 npx vitest run test/long/worst-essay.test.ts
 */

const { FUZZ_ESSAYS, FUZZ_SEED } = process.env;
const answers = Number(FUZZ_ESSAYS ?? 100);
const seed = Number(FUZZ_SEED ?? 1);
const maxMs = 50;

it(`the worst of ${answers} answers with an essay is read quickly (seed ${seed})`, {
  timeout: 300_000 + answers * 500,
}, async () => {
  const worst = await findWorst(essaySearch, ({ ms }) => ms, answers, createRandom(seed));
  const shown = `${worst.ms.toFixed(1)} ms, ${worst.bytes} bytes: ${JSON.stringify(worst.answer)}`;
  if (FUZZ_ESSAYS !== undefined) process.stdout.write(`${shown}\n`);
  // A search that measures nothing would find nothing.
  expect(worst.ms).toBeGreaterThan(1);
  expect(worst.ms, shown).toBeLessThan(maxMs);
});
