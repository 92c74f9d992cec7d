import { expect, it } from 'vitest';
import { tCheck } from '../support/check/check.ts';
import { tIban } from '../support/e2e/iban.ts';

/** The largest resident memory of a check of so many rows, in MB. */
async function measure(rows: number): Promise<number> {
  const ibans = Array.from({ length: 50 }, (_, number) => tIban(number));
  const lines = Array.from(
    { length: rows },
    (_, row) => `Payee of invoice ${row};${ibans[row % 50]};12,50;Text ${row}`,
  );
  const { run, path } = tCheck(`Name;IBAN;Amount;Text\n${lines.join('\n')}\n`);
  // Not `resourceUsage().maxRSS`: on Linux, that includes what the parent used when it started the process.
  const report =
    "import{readFileSync}from'node:fs';process.on('exit',()=>console.error(readFileSync('/proc/self/status','utf8').match(/VmHWM.*/)[0]))";
  const env = { NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(report)}"` };
  const { code, stderr } = await run(['--output', path('out.csv')], env);
  expect(code, stderr).toBe(0);
  return Number(/VmHWM:\s+(\d+)/.exec(stderr)?.[1]) / 1_000;
}

it('the memory of a check does not grow with the file', async () => {
  const small = await measure(5_000);
  const large = await measure(200_000);
  // Measured: 130 and 150 MB. The rows alone would take 100 MB.
  expect(large - small).toBeLessThan(60);
  expect(large).toBeLessThan(210);
});
