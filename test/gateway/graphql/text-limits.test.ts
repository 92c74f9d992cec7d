import { type GraphQLArgument, type GraphQLInputField, getNamedType, isInputObjectType, isObjectType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { schema } from '../../../src/gateway/graphql/schema/schema.ts';
import { repeat } from '../../support/gateway/graphql/documents.ts';
import { type Answer, tGateway, tScriptedGateway } from '../../support/gateway.ts';

const essay = (fields: string, type = 'String!') =>
  `mutation ($text: ${type}) { order: generateEssay(input: { wordCount: 9 ${fields} }) {
    ... on InvalidEssayInput { fields { name } message }
  } }`;
const start = (fields: string, type = 'String!') => essay(fields, type).replace('generateEssay', 'startEssay');
const generateIban = (fields: string) => `query ($text: String!) { generateIban(input: { ${fields} }) { __typename } }`;
/** Every text argument and input field of the schema. */
const queries: Record<string, string> = {
  'Query.bank(bic)': 'query ($text: String!) { bank(bic: $text) { name } }',
  'Query.bicValidation(bic)': 'query ($text: String!) { bicValidation(bic: $text) { bic } }',
  'Query.banks(country)': 'query ($text: String!) { banks(country: $text) { totalCount } }',
  'Query.banks(search)': 'query ($text: String!) { banks(search: $text) { totalCount } }',
  'Query.banks(after)': 'query ($text: String!) { banks(after: $text) { totalCount } }',
  'Query.country(code)': 'query ($text: String!) { country(code: $text) { name } }',
  'Query.node(id)': 'query ($text: ID!) { node(id: $text) { id } }',
  'Query.essay(id)': 'query ($text: ID!) { essay(id: $text) { text } }',
  'Query.essayOrder(id)': 'query ($text: ID!) { essayOrder(id: $text) { id } }',
  'Query.essayOrder(idempotencyKey)': 'query ($text: ID!) { essayOrder(idempotencyKey: $text) { id } }',
  'Query.essayOrders(after)': 'query ($text: String!) { essayOrders(after: $text) { nodes { id } } }',
  'Mutation.cancelEssayOrder(id)': 'mutation ($text: ID!) { cancelEssayOrder(id: $text) { __typename } }',
  'Mutation.deleteEssayOrder(id)': 'mutation ($text: ID!) { deleteEssayOrder(id: $text) { __typename } }',
  'Subscription.essayOrder(id)': 'subscription ($text: ID!) { essayOrder(id: $text) { id } }',
  'Query.ibanValidation(iban)': 'query ($text: String!) { ibanValidation(iban: $text) { iban } }',
  'Query.ibanValidations(ibans)': 'query ($text: String!) { ibanValidations(ibans: [$text]) { iban } }',
  'IbanValidation.bicMatch(bic)':
    'query ($text: String!) { ibanValidation(iban: "DE89370400440532013000") { bicMatch(bic: $text) } }',
  'GenerateIbanInput.country': generateIban('country: $text'),
  'GenerateIbanInput.bankCode': generateIban('country: "DE" bankCode: $text'),
  'GenerateIbanInput.branch': generateIban('country: "DE" branch: $text'),
  'GenerateIbanInput.accountNumber': generateIban('country: "DE" accountNumber: $text'),
  'GenerateEssayInput.description': essay('description: $text'),
  'GenerateEssayInput.titles': essay('description: "Pens" titles: [$text]'),
  'GenerateEssayInput.idempotencyKey': essay('description: "Pens" idempotencyKey: $text', 'ID'),
  'StartEssayInput.description': start('description: $text idempotencyKey: "k"'),
  'StartEssayInput.titles': start('description: "Pens" titles: [$text] idempotencyKey: "k"'),
  'StartEssayInput.idempotencyKey': start('description: "Pens" idempotencyKey: $text', 'ID!'),
};

/** Every text input of the schema, by its coordinate. */
const inputs = Object.values(schema.getTypeMap())
  .filter(({ name }) => !name.startsWith('__'))
  .flatMap((type): [string, GraphQLArgument | GraphQLInputField][] => {
    if (isInputObjectType(type))
      return Object.values(type.getFields()).map((field) => [`${type}.${field.name}`, field]);
    if (!isObjectType(type)) return [];
    const fields = Object.values(type.getFields());
    return fields.flatMap(({ name, args }) => args.map((arg) => [`${type}.${name}(${arg.name})`, arg]));
  })
  .filter(([, { type }]) => ['String', 'ID'].includes(getNamedType(type).name))
  .map(([coordinate, { name, description }]) => ({ coordinate, name, description }));

describe('every text argument and input field', () => {
  it('is in the table of this test', () => {
    expect(inputs.map(({ coordinate }) => coordinate).toSorted()).toEqual(Object.keys(queries).toSorted());
  });

  it.each(inputs)(
    'states its limit, and is checked before any call: $coordinate',
    async ({ coordinate, name, description }) => {
      const limit = Number(/ At most (\d+) characters\.$/.exec(description ?? '')?.[1]);
      const { postLocally, upstream } = await tScriptedGateway();
      const accept = coordinate.startsWith('Subscription') ? 'text/event-stream' : 'application/json';
      const ask = (text: string) => postLocally({ query: queries[coordinate] ?? '', variables: { text } }, { accept });
      for (const length of [limit + 1, 900_000]) {
        const long = '7'.repeat(length);
        const answer = (await (await ask(long)).json()) as Answer;
        expect(JSON.stringify(answer).length).toBeLessThan(1_000);
        const { data, errors } = answer;
        const invalid = data?.order as { fields: object[]; message: string } | undefined;
        const message = invalid?.message ?? errors?.[0]?.message;
        expect(message).toMatch(new RegExp(`^(The|A) [a-zA-Z ]+ must have at most ${limit} characters\\.$`));
        expect(message).not.toMatch(/[a-z][A-Z]/);
        if (invalid) expect(invalid.fields).toEqual([{ name }]);
        else expect(errors).toMatchObject([{ path: expect.any(Array), extensions: { code: 'BAD_USER_INPUT' } }]);
      }
      expect(upstream.calls).toHaveLength(0);
      expect(await (await ask('7'.repeat(limit))).text()).not.toContain('at most');
    },
  );
});

describe('a text of 900 kB', () => {
  const long = `DE${'8'.repeat(900_000)}`;

  it.each([
    ['IbanValidation', 'iban', 64],
    ['BankData', 'id', 200],
    ['IbanCountry', 'code', 16],
  ])('fails one representation only, as the key of %s', async (type, key, limit) => {
    const query = `query ($r: [_Any!]!) { _entities(representations: $r) { __typename ... on ${type} { ${key} } } }`;
    const r = [
      { __typename: 'IbanCountry', code: 'DE' },
      { __typename: type, [key]: long },
    ];
    const answer = await tGateway().ask(query, { r });
    expect(JSON.stringify(answer).length).toBeLessThan(1_000);
    const { data, errors } = answer;
    expect(data?._entities).toMatchObject([{ __typename: 'IbanCountry' }, null]);
    const message = `The key "${key}" must have at most ${limit} characters.`;
    expect(errors).toMatchObject([{ path: ['_entities', 1], message, extensions: { code: 'BAD_USER_INPUT' } }]);
  });

  it('fails one entry only, in a list of IBANs', async () => {
    const query = 'query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { valid } }';
    const { data, errors } = await tGateway().ask(query, { ibans: ['DE00', long, 'XX'] });
    expect(data?.ibanValidations).toEqual([{ valid: false }, null, { valid: false }]);
    expect(errors).toMatchObject([
      { path: ['ibanValidations', 1], message: 'The IBAN must have at most 64 characters.' },
    ]);
  });
});

it('limits aliases, which a response repeats for each entry of a list', async () => {
  const { ask } = tGateway();
  const query = (length: number) => `{ countries { ${'a'.repeat(length)}: code } }`;
  expect((await ask(query(100))).errors).toBeUndefined();
  const answer = await ask(query(50_000));
  expect(answer.errors).toMatchObject([
    { message: 'An alias must have at most 100 characters.', extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } },
  ]);
  expect(JSON.stringify(answer).length).toBeLessThan(1_000);
});

it('does not repeat a long name of an operation in each error', async () => {
  const skips = repeat(100, (index) => `a${index}: code @skip(if: $v${index})`);
  const answer = await tGateway().ask(`query ${'x'.repeat(90_000)} { country(code: "DE") { ${skips} } }`);
  expect(answer.errors?.[0]?.extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
  expect(JSON.stringify(answer).length).toBeLessThan(200_000);
});
