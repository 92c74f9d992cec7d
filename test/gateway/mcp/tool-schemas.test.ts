import { parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { schema } from '../../../src/gateway/graphql/schema/schema.ts';
import { compileLater, createToolSchemas } from '../../../src/gateway/mcp/tool-schemas.ts';

it('compiles the schema of a tool when its arguments are first checked, and once', async () => {
  let reads = 0;
  const toolSchema = {
    type: 'object' as const,
    get properties() {
      reads += 1;
      return { iban: { type: 'string' } };
    },
  };
  const { validate } = compileLater(toolSchema)['~standard'];
  expect(reads).toBe(0);
  expect(await validate({ iban: 1 })).toHaveProperty('issues');
  const compiled = reads;
  expect(compiled).toBeGreaterThan(0);
  expect(await validate({ iban: 'DE89' })).toEqual({ value: { iban: 'DE89' } });
  expect(reads).toBe(compiled);
});

describe('a wrong argument is named', () => {
  const document =
    parse(`query q($iban: String!, $ibans: [String!], $state: EssayOrderStateFilter, $input: GenerateIbanInput) {
    ibanValidation(iban: $iban) { iban } ibanValidations(ibans: $ibans) { iban }
    essayOrders(state: $state) { nodes { id } } generateIban(input: $input) { __typename }
  }`);
  const { input } = createToolSchemas(schema, document, 2);
  const { validate } = compileLater(input)['~standard'];

  it.each([
    [{}, "The arguments must have required property 'iban'"],
    [{ iban: 7 }, 'iban must be string'],
    [{ iban: '', IBAN: '', bic: 1 }, 'The arguments must not have IBAN, bic, only iban, ibans, state, input'],
    [{ iban: '', state: 'DONE' }, 'state must be one of CANCELLED, FAILED, FINISHED, QUEUED, WRITING'],
    [{ iban: '', ibans: ['a', 2, 'c'] }, 'ibans must NOT have more than 2 items; ibans.1 must be string'],
    [{ iban: '', input: {} }, "input must have required property 'country'"],
    [
      { iban: 1, input: { country: 'DE', code: '' } },
      'iban must be string; input must not have code, only accountNumber, bankCode, branch, country',
    ],
  ])('%j', async (args, message) => {
    expect(await validate(args)).toEqual({ issues: [{ message }] });
  });
});
