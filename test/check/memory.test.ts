import { expect, it } from 'vitest';
import { tCheck } from '../support/check/check.ts';
import { tIban } from '../support/ibans.ts';

it('the memory of a check does not grow with the file', async () => {
  const ibans = Array.from({ length: 50 }, (_, number) => tIban(number));
  const row = (number: number) => `Payee of invoice ${number};${ibans[number % 50]};12,50;Text ${number}`;
  const { start, path } = tCheck(
    `Name;IBAN;Amount;Text\n${Array.from({ length: 60_000 }, (_, number) => row(number)).join('\n')}\n`,
  );
  // Not `resourceUsage().maxRSS`: on Linux, that includes what the parent used when it started the process.
  const report =
    "import{readFileSync}from'node:fs';process.on('exit',()=>console.error(readFileSync('/proc/self/status','utf8').match(/VmHWM.*/)[0]))";
  const env = { NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(report)}"` };
  const { ended, stderr } = start(['--output', path('out.csv')], env);
  expect(await ended, stderr()).toEqual({ code: 0, signal: null });
  // Measured: 130 MB for 5,000 rows, and 150 MB. The rows alone would take 30 MB.
  expect(Number(/VmHWM:\s+(\d+)/.exec(stderr())?.[1]) / 1_000).toBeLessThan(190);
});
