import type { GraphQLObjectType } from 'graphql';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createPreparedDocuments } from '../../../../src/gateway/graphql/documents/documents.ts';
import { createCompiler } from '../../../../src/gateway/graphql/jit/compiler.ts';
import { schema } from '../../../../src/gateway/graphql/schema/schema.ts';
import {
  interpret,
  type Outcome,
  repeat,
  tContext,
  tOperation,
  toOutcome,
} from '../../../support/gateway/graphql/documents.ts';
import type { RandomRequest } from '../../../support/gateway/graphql/random-documents.ts';
import { turns } from '../../../support/turns.ts';

// Loaded when an operation is compiled otherwise, which takes longer than the turns that the tests wait.
import 'graphql-jit';

/** graphql-jit writes a text with this prefix into the code as an expression. */
const attack = `${'__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74d'}globalThis.attacked=1`;

beforeEach(() => {
  // Compiling takes no time, so the next operation may be compiled at once.
  vi.useFakeTimers({ toFake: ['performance'] });
});

describe('a compiled operation', () => {
  const places: [string, (text: string) => string][] = [
    ['a text', (text) => `{ ibanValidation(iban: ${text}) { iban } country(code: ${text}) { code } }`],
    ['a text in a list', (text) => `{ ibanValidations(ibans: ["x", ${text}]) { iban } }`],
    ['a text in an input object', (text) => `{ generateIban(input: { country: ${text} }) { __typename } }`],
    [
      'a text in a scalar',
      (text) => `{ _entities(representations: [{ __typename: "IbanCountry", code: ${text} }]) { __typename } }`,
    ],
    [
      'a name in a scalar',
      () => `{ _entities(representations: [{ ${attack.replace(/\W.*/, '')}: 1 }]) { __typename } }`,
    ],
    [
      'a default value',
      (text) =>
        `query ($code: String = ${text}) { bank(bic: "DEUTDEFF") { bic } banks(country: $code) { totalCount } }`,
    ],
    ['a default list', (text) => `query ($ibans: [String!] = [${text}]) { ibanValidations(ibans: $ibans) { iban } }`],
    ['a variable in a list', () => 'query ($text: String!) { ibanValidations(ibans: ["x", $text]) { iban } }'],
  ];
  it.each(places)('runs no code from %s, and repeats any text', async (_, queryOf) => {
    for (const text of [attack, '"', '\\', "'", '`', '$' + '{1}', '\u2028', '\n', '</script>', '*/']) {
      const request = { query: queryOf(JSON.stringify(text)), variables: { text } };
      expect(await runCompiled(request), text).toEqual(await interpret(request));
      expect(globalThis).not.toHaveProperty('attacked');
    }
  });

  it.each([
    ['a condition in a fragment', '{ ...F } fragment F on Query { ... @skip(if: false) { __typename } }'],
    ['introspection', '{ a: __schema { queryType { name } } }'],
    ['introspection in a fragment', '{ ...F } fragment F on Query { __type(name: "Query") { name } }'],
    ['a variable with a reserved name', 'query ($__argument0: String!) { country(code: $__argument0) { code } }'],
    ['very many fields', `{ ${repeat(1_800, (index) => `a${index}: __typename`)} }`],
    ['many fields with resolvers', `{ ${repeat(110, (index) => `a${index}: country(code: "FR") { code name }`)} }`],
    ['many unions', `{ ${repeat(120, (index) => `a${index}: _entities(representations: []) { __typename }`)} }`],
    ['long paths', `{ country(code: "FR") ${nest(90, 'a'.repeat(100))} }`],
    [
      'fragments that expand to very many fields',
      `{ country(code: "FR") { ...F0 } } ${repeat(30, (i) => `fragment F${i} on IbanCountry { a: parent { ...F${i + 1} } b: parent { ...F${i + 1} } }`)} fragment F30 on IbanCountry { code }`,
    ],
  ])('is not made of %s', async (_, query) => {
    expect(await runCompiled({ query, variables: { __argument0: 'DE' } })).toBeNull();
  });

  it('may be fifty look-ups with ten fields', async () => {
    const fields = 'iban valid problems ibanData { bankCode bban } bankData { bic name city zip }';
    const query = `{ ${repeat(50, (index) => `a${index}: ibanValidation(iban: "FR14") { ${fields} }`)} }`;
    expect(await runCompiled({ query, variables: {} })).not.toBeNull();
  });

  it.each([2 ** 31, 1.5, 27])('checks a number of a resolver as GraphQL.js does: %d', async (length) => {
    const field = (schema.getType('IbanCountry') as GraphQLObjectType).getFields().ibanLength;
    const { resolve } = field ?? {};
    onTestFinished(() => void Object.assign(field ?? {}, { resolve }));
    Object.assign(field ?? {}, { resolve: () => length });
    const request = { query: '{ country(code: "FR") { code ibanLength } }', variables: {} };
    const expected = await interpret(request);
    expect(expected.errors).toHaveLength(length === 27 ? 0 : 1);
    expect(await runCompiled(request)).toEqual(expected);
  });
});

describe('compiling', () => {
  it('takes at most a twentieth of the time, and is done later for those whose turn has not come', async () => {
    const compileMs = 13;
    const clock = tCompileClock(compileMs);
    const compiler = createCompiler(schema);
    const onCompiled = vi.fn();
    const operations = Array.from({ length: 3_000 }, (_, index) =>
      tRegister(`{ a${index}: __typename }`, onCompiled, compiler),
    );
    for (const find of operations) {
      clock.ms += 0.5;
      find();
      find();
      // The next operation is compiled after the current one.
      await turns(3);
    }
    const compilations = onCompiled.mock.calls.length;
    expect(compilations).toBeGreaterThan(1);
    expect(compilations * compileMs).toBeLessThanOrEqual(clock.ms / 20 + compileMs);

    const late = operations.find((find) => find() === null);
    clock.ms += 1_000;
    late?.();
    await turns(3);
    expect(late?.()).not.toBeNull();
  });

  it('compiles one operation at a time when several come at once', async () => {
    tCompileClock(2);
    const compiler = createCompiler(schema);
    const onCompiled = vi.fn();
    for (let index = 0; index < 100; index += 1) {
      const find = tRegister(`{ b${index}: __typename }`, onCompiled, compiler);
      find();
      find();
    }
    await turns(3);
    expect(onCompiled).toHaveBeenCalledTimes(1);
  });

  it('counts the memory of compiled operations in the cache of documents', async () => {
    const { prepare, status } = createPreparedDocuments({ schema, hasCallers: false });
    const fields = repeat(380, (index) => `a${index}: iban`);
    const textOf = (index: number) => `query Q${index}($code: String!) { ibanValidation(iban: $code) { ${fields} } }`;
    const texts = Array.from({ length: 16 }, (_, index) => textOf(index));
    for (const text of texts) expect(prepare(text)).not.toBe(prepare(text));
    const prepared = texts.map((text) => prepare(text));
    for (const [index, text] of texts.entries()) expect(prepare(text)).toBe(prepared[index]);
    const before = status();
    for (const [index, text] of texts.entries()) {
      for (let time = 0; time < 3; time += 1) {
        prepared[index] = prepare(text);
        await prepared[index].operation(null).execute(tContext(), { code: 'DE' });
      }
      await turns(3);
    }
    const after = status();
    expect(before.entries).toBe(16);
    expect(after.entries).toBeLessThan(16);
    expect(after.bytes / after.entries).toBeGreaterThan(before.bytes / before.entries + 1_500_000);
    expect(prepare(textOf(0))).not.toBe(prepared[0]);
    expect(prepare(textOf(15))).toBe(prepared[15]);
  });
});

/** A clock that advances only while an operation is compiled. */
function tCompileClock(compileMs: number) {
  const clock = { ms: 0 };
  vi.spyOn(performance, 'now').mockImplementation(() => clock.ms);
  const { getRootType } = schema;
  // graphql-jit calls it twice per operation.
  vi.spyOn(schema, 'getRootType').mockImplementation(function (this: typeof schema, type) {
    clock.ms += compileMs / 2;
    return getRootType.call(this, type);
  });
  return clock;
}

/** Null if it was not compiled. */
async function runCompiled({ query, variables }: RandomRequest): Promise<Outcome | null> {
  const find = tRegister(query);
  find();
  find();
  await turns(3);
  const result = await find()?.(tContext(), variables);
  return result ? toOutcome(result) : null;
}

const compiler = createCompiler(schema);

function tRegister(query: string, addBytes = (_bytes: number) => {}, used = compiler) {
  return used.register(tOperation(query), addBytes);
}

function nest(depth: number, alias: string): string {
  return depth === 0 ? '{ code }' : `{ ${alias}: parent ${nest(depth - 1, alias)} }`;
}
