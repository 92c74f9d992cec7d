import { existsSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { tCheck } from '../support/check/check.ts';
import { tIban } from '../support/ibans.ts';

vi.mock('../../src/bank-data-service/answers/ibans.ts', () => ({
  answerIbanValidation() {
    throw new Error('a fault of the service');
  },
}));

it('a check with a fault of the embedded service exits with 2 and says so, without a result and without the IBAN', async () => {
  const { run, path } = tCheck(`IBAN\n${tIban(1)}\n`);
  const { code, stdout, stderr } = await run(['--output', path('out.csv')]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('a fault of the service');
  expect(stderr).not.toContain(tIban(1));
  expect(existsSync(path('out.csv'))).toBe(false);
});
