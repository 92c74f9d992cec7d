import { expect, it } from 'vitest';
import { compileLater } from '../../../src/gateway/mcp/tool-schemas.ts';

it('compiles the schema of a tool when its arguments are first checked, and once', async () => {
  let reads = 0;
  const schema = {
    type: 'object' as const,
    get properties() {
      reads += 1;
      return { iban: { type: 'string' } };
    },
  };
  const { validate } = compileLater(schema)['~standard'];
  expect(reads).toBe(0);
  expect(await validate({ iban: 1 })).toHaveProperty('issues');
  const compiled = reads;
  expect(compiled).toBeGreaterThan(0);
  expect(await validate({ iban: 'DE89' })).toEqual({ value: { iban: 'DE89' } });
  expect(reads).toBe(compiled);
});
