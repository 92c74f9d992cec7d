import { expect, it } from 'vitest';
import { tIban } from '../support/e2e/iban.ts';
import { tCheck } from '../support/payment-files/check.ts';

/** The largest resident memory of a check of so many rows, in MB. */
async function measure(rows: number): Promise<number> {
  const ibans = Array.from({ length: 50 }, (_, number) => tIban(number));
  const lines = Array.from(
    { length: rows },
    (_, row) => `Payee of invoice ${row};${ibans[row % 50]};12,50;Text ${row}`,
  );
  const { run, path } = tCheck(`Name;IBAN;Amount;Text\n${lines.join('\n')}\n`);
  const report = "process.on('exit',()=>console.error('maxRSS',process.resourceUsage().maxRSS))";
  const env = { NODE_OPTIONS: `--import "data:text/javascript,${report}"` };
  const { code, stderr } = await run(['--output', path('out.csv')], env);
  expect(code, stderr).toBe(0);
  return Number(/maxRSS (\d+)/.exec(stderr)?.[1]) / 1_000;
}

it('the memory of a check does not grow with the file', async () => {
  const small = await measure(5_000);
  const large = await measure(200_000);
  // Measured: 130 and 150 MB. The rows alone would take 100 MB.
  expect(large - small).toBeLessThan(60);
  expect(large).toBeLessThan(210);
});
