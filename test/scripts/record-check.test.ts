import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { drawSession, recordingFile, recordSession } from '../../scripts/record-check.ts';

/* The terminal session in docs/check-files.svg. */

it('shows what the command prints today; otherwise, run `npm run record-check`', () => {
  const steps = recordSession();
  expect(steps.map(({ output }) => output)).toEqual([
    expect.stringContaining('Name,IBAN,Amount'),
    expect.stringMatching(/payees\.csv: 7 rows read, 6 checked, IBANs in "IBAN"[\s\S]*4 IBANs looked up$/),
    '1',
    expect.stringContaining('status,problems,suggestion'),
  ]);
  expect(readFileSync(recordingFile, 'utf8')).toBe(drawSession(steps));
});

it('escapes what XML would take for markup', () => {
  const drawn = drawSession([{ command: 'cat a', output: '<b>&' }]);
  expect(drawn).toContain('>&lt;b&gt;&amp;</text>');
  expect(drawn).toContain('cat a: &lt;b&gt;&amp;</desc>');
});
