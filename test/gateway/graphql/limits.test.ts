import { getIntrospectionQuery } from 'graphql';
import { describe, expect, it } from 'vitest';
import { repeat, tDocuments } from '../../support/gateway/graphql/documents.ts';
import { tListeningGateway } from '../../support/gateway/http/listening-gateway.ts';
import { type Answer, tGateway, tScriptedGateway } from '../../support/gateway.ts';
import { replyJson } from '../../support/scripted-upstream.ts';

describe('a document', () => {
  it('may have at most 5,000 tokens', async () => {
    const { ask } = tGateway();
    const names = (count: number) => repeat(count, (index) => `a${index}: name`);
    expect((await ask(`{ country(code: "DE") { ${names(1_600)} } }`)).errors).toBeUndefined();
    const { data, errors } = await ask(`{ country(code: "DE") { ${names(1_700)} } }`);
    expect(data).toBeUndefined();
    const message = 'Syntax Error: Document contains more that 5000 tokens. Parsing aborted.';
    expect(errors).toMatchObject([{ message, extensions: { code: 'GRAPHQL_PARSE_FAILED' } }]);
  });

  it.each([
    [
      'operations',
      'A document may have at most 100 operations; this one has 101.',
      (count: number) => repeat(count, (index) => `query Q${index} { __typename }`),
    ],
    [
      'variables',
      'A document may define at most 250 variables; this one has 251.',
      (count: number) => {
        const half = Math.floor(count / 2);
        const query = (name: string, names: readonly number[]) =>
          `query ${name}(${names.map((index) => `$v${index}: String!`).join(' ')}) {
            ibanValidations(ibans: [${names.map((index) => `$v${index}`).join(' ')}]) { iban } }`;
        const names = Array.from({ length: count }, (_, index) => index);
        return `${query('A', names.slice(0, half))} ${query('B', names.slice(half))}`;
      },
    ],
  ])('has few %s, which take time to validate', async (_, message, document) => {
    const most = Number(/at most (\d+)/.exec(message)?.[1]);
    expect(tDocuments().prepare(document(most)).errors).toEqual([]);
    // A fragment with an unknown field: its error would show that the document was validated.
    const { errors } = tDocuments().prepare(`${document(most + 1)} fragment Z on Query { unknown }`);
    expect(errors.map(({ message }) => message)).toEqual([message]);
    expect(errors[0]?.extensions).toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED', http: { status: 400 } });
  });

  it('may introspect like all tools, but not with many aliases', async () => {
    const { ask } = tGateway();
    expect((await ask(getIntrospectionQuery())).errors).toBeUndefined();
    const aliases = repeat(30, (index) => `a${index}: description`);
    for (const query of [
      `{ __schema { types { fields { ${aliases} } } } }`,
      `{ __schema { types { fields { ...F } } } } fragment F on __Field { ${aliases} }`,
      `{ ${aliases.replaceAll('description', '_service { sdl }')} }`,
      `{ ${aliases.replaceAll('description', '__schema { description }')} }`,
    ]) {
      const { errors } = await ask(query);
      expect(errors).toMatchObject([{ message: 'Introspection may have at most 10 aliases.' }]);
    }
  });
});

describe('the directives of a document', () => {
  it.each([
    'query D { __typename }',
    'query ($v: Boolean D) { __typename @skip(if: $v) }',
    '{ __typename D }',
    '{ ...F D } fragment F on Query { __typename }',
    '{ ... D { __typename } }',
    '{ ...F } fragment F on Query D { __typename }',
    '{ __typename } scalar A D',
    '{ __typename } type A D { b: Int }',
    '{ __typename } type A { b: Int D }',
    '{ __typename } extend type A D',
  ])('are at most 5 in one place: %s', async (text) => {
    const { ask } = tGateway();
    const messages = async (count: number) => {
      const { errors = [] } = await ask(text.replace('D', '@deferred '.repeat(count)));
      return errors.map(({ message }) => message);
    };
    const tooMany = 'A field, fragment or operation may have at most 5 directives.';
    expect(await messages(5)).not.toContain(tooMany);
    expect(await messages(6)).toEqual([tooMany]);
  });
});

describe('the text of a document', () => {
  it('may have at most 100,000 characters, and 5,000 lines', async () => {
    const { ask } = tGateway();
    const query = (padding: string) => `{ __typename ${padding} }`;
    expect((await ask(query(','.repeat(99_985)))).errors).toBeUndefined();
    expect((await ask(query('\n'.repeat(4_900)))).errors).toBeUndefined();
    for (const [padding, message] of [
      [`#${'a'.repeat(100_000)}\n`, 'A document may have at most 100000 characters; this one has 100017.'],
      ['\n'.repeat(5_100), 'A document may have at most 5000 lines.'],
      ['\r\n'.repeat(4_990) + '\r'.repeat(11), 'A document may have at most 5000 lines.'],
    ] as const) {
      expect((await ask(query(padding))).errors).toMatchObject([
        { message, extensions: { code: 'GRAPHQL_PARSE_FAILED' } },
      ]);
    }
  });

  it.each([
    ['selections', (count: number) => '{ country '.repeat(count)],
    ['lists', (count: number) => `{ country(code: ${'['.repeat(count)}`],
    ['objects', (count: number) => `{ country(code: ${'{ a: '.repeat(count)}`],
    ['types', (count: number) => `query ($code: ${'['.repeat(count)}`],
  ])('nests at most 200 brackets: %s', async (_, nested) => {
    const gateway = tGateway();
    const { errors } = await gateway.ask(nested(2_400));
    expect(errors).toMatchObject([
      { message: 'Brackets may be nested at most 200 levels deep.', extensions: { code: 'GRAPHQL_PARSE_FAILED' } },
    ]);
    expect((await gateway.ask(nested(100))).errors?.[0]?.message).toContain('Syntax Error');
    expect(gateway.log()).toBe('');
  });

  it('may contain any number of brackets in strings and comments', async () => {
    const brackets = '['.repeat(1_000);
    const { data } = await tGateway().ask(`{ country(code: "${brackets}") { code } # ${brackets}\n }`);
    expect(data).toEqual({ country: null });
  });

  it('is not nested by variables', async () => {
    const gateway = tGateway();
    const query = `query ($code: String!, $representations: [_Any!]!) {
      country(code: $code) { code } _entities(representations: $representations) { __typename } }`;
    const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    for (const variables of [
      `{ "code": ${nested}, "representations": [] }`,
      `{ "code": "DE", "representations": [{ "__typename": "IbanCountry", "code": ${nested} }] }`,
      `{ "code": "DE", "representations": ${nested} }`,
    ]) {
      const response = await gateway.postLocally(`{ "query": ${JSON.stringify(query)}, "variables": ${variables} }`);
      const { errors } = (await response.json()) as Answer;
      expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    }
    expect(gateway.log()).toBe('');
  });
});

describe('comparing the fields of a document', () => {
  const shapes: [string, number, (times: number) => string][] = [
    ['equal fields', 100, (times) => `{ ${repeat(times, () => 'countries { name }')} }`],
    ['inline fragments', 100, (times) => `{ ${repeat(times, () => '... on Query { countries { name } }')} }`],
    [
      'fields with an input object',
      50,
      (times) =>
        `{ ${repeat(times, () => 'generateIban(input: { country: "DE", bankCode: "37040044", accountNumber: "1" }) { __typename }')} }`,
    ],
    [
      'fragments',
      60,
      (times) =>
        `{ ${repeat(times, (i) => `...F${i}`)} } ${repeat(times, (i) => `fragment F${i} on Query { countries { name } }`)}`,
    ],
    [
      'a chain of fragments',
      60,
      (times) =>
        `{ ...F0 } ${repeat(times, (i) => `fragment F${i} on Query { ...F${i + 1} countries { name } }`)} fragment F${times} on Query { __typename }`,
    ],
    [
      'a fragment beside fields that spread it, too',
      10,
      (times) =>
        `{ country(code: "FR") { parent { ...F ${repeat(times, (i) => `a${i}: parent { parent { code } ...F }`)} } } } fragment F on IbanCountry { ${repeat(2 * times, () => 'parent { code }')} }`,
    ],
    [
      'fields below equal ones, in one fragment',
      70,
      (times) => `{ ${repeat(times, () => 'country(code: "DE") { ...F }')} } fragment F on IbanCountry { code name }`,
    ],
  ];

  it.each(shapes)('is limited before it is done: %s', async (_, most, document) => {
    const { ask } = tGateway();
    const upTo = await ask(document(most));
    expect(upTo.errors?.map(({ extensions }) => extensions.code) ?? []).not.toContain('GRAPHQL_VALIDATION_FAILED');
    const { errors } = await ask(document(3 * most));
    expect(errors).toMatchObject([
      {
        message: expect.stringMatching(/too often in one place: .* more than 20000 comparisons\. Select a field once/),
        extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
      },
    ]);
  });

  it('ends in fragments that are spread within themselves, or double at each level', async () => {
    const { ask } = tGateway();
    const cycle = await ask('{ ...A } fragment A on Query { countries { name } ...B } fragment B on Query { ...A }');
    expect(cycle.errors?.map(({ message }) => message)).toEqual(['Cannot spread fragment "A" within itself via "B".']);
    const doubling = repeat(
      30,
      (i) => `fragment F${i} on IbanCountry { a: parent { ...F${i + 1} } b: parent { ...F${i + 1} } }`,
    );
    const { errors } = await ask(`{ country(code: "FR") { ...F0 } } ${doubling} fragment F30 on IbanCountry { code }`);
    expect(errors?.[0]?.message).toContain('The query costs');
  });
});

describe('the JSON of a request', () => {
  const padding = '"query": "{ __typename }", "extensions": {';
  it.each([
    ['deep lists', `"a": ${'['.repeat(6_000)}${']'.repeat(6_000)}`, 'JSON may be nested at most 100 levels deep.'],
    ['deep objects', `${'"a": {'.repeat(3_000)}${'}'.repeat(3_000)}`, 'JSON may be nested at most 100 levels deep.'],
    ['many objects', `"a": [${'{},'.repeat(60_000)}{}]`, 'JSON may have at most 50000 objects, lists and fields.'],
    ['many fields', `"a": [${'{"a":1},'.repeat(30_000)}{}]`, 'JSON may have at most 50000 objects, lists and fields.'],
    [
      'many names',
      Array.from({ length: 1_001 }, (_, index) => `"a${index}": "${'x'.repeat(10)}"`).join(),
      'JSON may have at most 1000 different names of fields.',
    ],
    [
      'many names in many objects',
      `"a": [${Array.from({ length: 1_001 }, (_, index) => `{ "a${index}" : 1 }`).join()}]`,
      'JSON may have at most 1000 different names of fields.',
    ],
  ])('is refused before it is parsed if that would take long: %s', async (_, extensions, message) => {
    const gateway = await tListeningGateway();
    const { status, json } = await gateway.post(`{ ${padding} ${extensions} } }`);
    expect(status).toBe(400);
    expect(json()).toMatchObject({ errors: [{ message, extensions: { code: 'BAD_USER_INPUT' } }] });
  });

  it('may repeat its names in any number of objects', async () => {
    const gateway = await tListeningGateway();
    const item = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`a${index}`, `"b${index}":`]));
    const ignored = Array.from({ length: 1_000 }, (_, index) => ({ ...item, text: `c${index}` }));
    const { json } = await gateway.post({ query: '{ __typename }', extensions: { ignored } });
    expect(json()).toEqual({ data: { __typename: 'Query' } });
  });

  it('may have brackets and colons in its texts, and long lists of them', async () => {
    const gateway = await tListeningGateway();
    const text = `${'[{:'.repeat(30_000)}\\\\`;
    const ignored = { texts: [text, '"\\"', text], list: Array.from({ length: 60_000 }, () => '[') };
    const { json } = await gateway.post({ query: '{ __typename }', extensions: { ignored } });
    expect(json()).toEqual({ data: { __typename: 'Query' } });
  });
});

describe('the cost of a query', () => {
  const aliases = (selection: string) => ['a', 'b', 'c', 'd'].map((alias) => `${alias}: ${selection}`).join(' ');
  /** Alternates `territories` and `parent`: each level multiplies the response by 4 aliases and by the list. */
  const bomb = (levels: number) => {
    const fragments = repeat(levels, (level) => {
      const field = level % 2 === 0 ? 'territories' : 'parent';
      return `fragment F${level} on IbanCountry { ${aliases(`${field} { ...F${level + 1} }`)} }`;
    });
    return `{ country(code: "FR") { ...F0 } } ${fragments} fragment F${levels} on IbanCountry { code name }`;
  };

  it.each([
    ['products of aliases and fragments', bomb(6)],
    [
      'fragments that double',
      `{ ...F0 } ${repeat(60, (i) => `fragment F${i} on Query { ...F${i + 1} ... { ...F${i + 1} } }`)}
        fragment F60 on Query { allowances { used } }`,
    ],
    ['a deep circle', `{ country(code: "FR") { ${'territories { parent { '.repeat(90)}code${' } }'.repeat(90)} } }`],
    [
      'lists of lists',
      `{ ${aliases(`countries { ${aliases('territories { ibanFields { name length isPadded } }')} }`)} }`,
    ],
    [
      'pages',
      `{ ${repeat(100, (page) => `p${page}: banks(first: 100) { nodes { bic name zip } edges { node { bic name zip city date } } }`)} }`,
    ],
    [
      'introspection with ten aliases',
      `{ __schema { types { ...T } } }
        fragment T on __Type { a: fields { ...F } b: fields { ...F } c: fields { ...F } d: fields { ...F } }
        fragment F on __Field { a: type { ...U } b: type { ...U } c: type { ...U } }
        fragment U on __Type { a: fields { ...G } b: fields { ...G } c: fields { ...G } }
        fragment G on __Field { name description args { name description type { name kind ofType { name kind } } } }`,
    ],
    [
      'suggestions',
      `query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { ${repeat(60, (i) => `a${i}: suggestions`)} } }`,
    ],
  ])('is refused before execution if it exceeds MAX_QUERY_COST: %s', async (_, query) => {
    const gateway = await tScriptedGateway();
    const variables = { ibans: Array.from({ length: 1_000 }, (_, index) => `DE00370400440532${index + 100_000}`) };
    const accept = 'application/graphql-response+json';
    const response = await gateway.postLocally({ query, variables }, { accept });
    expect(response.status).toBe(400);
    const message = /^The query costs \S+; it may cost at most 100000 \(MAX_QUERY_COST\)\. Each field/;
    const { data, errors } = (await response.json()) as Answer;
    expect(data).toBeUndefined();
    expect(errors).toMatchObject([{ message: expect.stringMatching(message), extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(gateway.upstream.calls).toHaveLength(0);
    expect(gateway.log()).toBe('');
  });

  it('is limited by MAX_QUERY_COST, and depends on the lengths of lists in variables', async () => {
    const { ask } = await tScriptedGateway(replyJson(200, { valid: true }), { MAX_QUERY_COST: '1000' });
    const query = 'query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { iban valid problems } }';
    const ibans = (length: number) => ({ ibans: Array.from({ length }, () => 'DE89370400440532013000') });
    expect((await ask(query, ibans(71))).errors).toBeUndefined();
    expect((await ask(query, ibans(72))).errors?.[0]?.message).toContain(
      'The query costs 1009; it may cost at most 1000 (MAX_QUERY_COST).',
    );
  });
});

describe('the errors of a response', () => {
  it('are those of each null, also in a long list', async () => {
    const { ask } = await tScriptedGateway(replyJson(401, {}));
    const ibans = Array.from({ length: 60 }, () => 'DE89370400440532013000');
    const query = 'query ($i: [String!]!) {\n  ibanValidations(ibans: $i) { valid bankData { bic } } }';
    const { errors } = await ask(query, { i: ibans });
    expect(new Set(errors?.map(({ path }) => String(path)))).toEqual(
      new Set(ibans.flatMap((_, row) => ['valid', 'bankData'].map((field) => `ibanValidations,${row},${field}`))),
    );
    expect(errors?.at(-1)).toMatchObject({ locations: [{ line: 2 }] });
  });

  it('are at most 10,000, with the number of the others', async () => {
    const { ask } = tGateway({ env: { MAX_QUERY_COST: '200000' } });
    const lists = repeat(12, (index) => `l${index}: ibanValidations(ibans: $ibans) { iban }`);
    const ibans = Array.from({ length: 1_000 }, () => 'DE');
    const { errors } = await ask(`query ($ibans: [String!]!) { ${lists} }`, { ibans });
    expect(errors).toHaveLength(10_001);
    expect(errors?.[10_000]).toMatchObject({
      message: '1000 more errors are not listed; a response lists at most 10000.',
      extensions: { code: 'TOO_MANY_ERRORS' },
    });
  });

  it('of validation have their locations', async () => {
    const { errors } = await tGateway().ask('{\n  country(code: "FR") { code }\n  unknown\n}');
    expect(errors).toMatchObject([{ locations: [{ line: 3, column: 3 }] }]);
  });

  it('have at most 10 locations each', async () => {
    const { errors } = await tGateway().ask(`{ ${'banks(first: 0) { totalCount }\n'.repeat(30)} }`);
    expect(errors).toHaveLength(1);
    expect(errors?.[0]?.locations).toHaveLength(10);
  });
});

describe('an error of a variable', () => {
  const wide = Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`k${index}`, 1]));
  const long = 'x'.repeat(900_000);
  const generation = 'query ($v: GenerateIbanInput!) { generateIban(input: $v) { __typename } }';
  const list = 'query ($v: [String!]!) { ibanValidations(ibans: $v) { iban } }';
  it.each<[string, unknown, string]>([
    ['query ($v: String!) { country(code: $v) { code } }', wide, 'an object or a list where String'],
    [list, ['DE', [{ k: long }]], 'an object or a list where String'],
    ['query ($v: Int!) { banks(first: $v) { totalCount } }', long, 'a text of more than 1000 characters where Int'],
    ['query ($v: Boolean = true) { __typename @skip(if: $v) }', '1'.repeat(1_001), 'characters where Boolean'],
    [
      'mutation ($v: EssayMode!) { generateEssay(input: { description: "x", wordCount: 9, mode: $v }) { __typename } }',
      long,
      'characters where EssayMode',
    ],
    [
      'mutation ($v: GenerateEssayInput!) { generateEssay(input: $v) { __typename } }',
      { description: 'x', wordCount: 9, mode: long },
      'characters where EssayMode',
    ],
    ['query ($v: ID!) { essay(id: $v) { text } }', { [long]: long }, 'an object or a list where ID'],
    [generation, wide, '60000 fields; GenerateIbanInput has only accountNumber, bankCode, branch, country.'],
    [generation, { country: ['DE'] }, 'an object or a list where String'],
    [generation, { country: 'DE', x: wide }, 'an object or a list in an unknown field'],
    [generation, long, 'characters where GenerateIbanInput'],
  ])('does not repeat a large value: %s', async (query, v, problem) => {
    const { data, errors } = await tGateway().ask(query, { v });
    expect(data).toBeUndefined();
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(errors?.[0]?.message).toMatch(/^Variable "\$v" has .{1,100}\.$/);
    expect(errors?.[0]?.message).toContain(problem);
  });

  it('names few unknown fields, in a message of at most 1,000 characters', async () => {
    const { ask } = tGateway();
    const few = await ask(generation, { v: { country: 'DE', unknown: 1 } });
    expect(few.errors?.[0]?.message).toContain('Field "unknown" is not defined');
    const many = await ask(generation, { v: { country: long, [long]: 1 } });
    expect(many.errors?.[0]?.message).toHaveLength(1_000);
  });
});

describe('_entities', () => {
  it('have at most 1,000 representations, refused before any look-up', async () => {
    const { ask, upstream } = await tScriptedGateway(replyJson(200, { valid: true }));
    const query = `query ($representations: [_Any!]!) {
      a: _entities(representations: $representations) { ... on IbanValidation { valid } }
      b: _entities(representations: $representations) { ... on IbanValidation { valid } } }`;
    const payees = (length: number) => ({
      representations: Array.from({ length }, () => ({ __typename: 'IbanValidation', iban: 'DE89370400440532013000' })),
    });
    const message = 'A query may request at most 1000 entities; split it into several queries.';
    expect((await ask(query, payees(1_001))).errors?.[0]).toMatchObject({
      message,
      extensions: { code: 'BAD_USER_INPUT' },
    });
    expect((await ask(query, payees(501))).errors).toMatchObject([{ message, path: ['b'] }]);
    expect((await ask(query, payees(500))).errors).toBeUndefined();
    expect(upstream.calls).toHaveLength(1);
  });
});

describe('an answer', () => {
  it('has at most MAX_IBANS_PER_QUERY IBANs, including repeats and aliases', async () => {
    const { ask, upstream } = await tScriptedGateway(replyJson(200, { valid: true }), { MAX_IBANS_PER_QUERY: '10' });
    const lists = repeat(100, (index) => `l${index}: ibanValidations(ibans: $ibans) { valid }`);
    const ibans = Array.from({ length: 10 }, () => 'DE89370400440532013000');
    const single = 'ibanValidation(iban: "DE89370400440532013000") { valid }';
    const { data, errors } = await ask(`query ($ibans: [String!]!) { ${lists} ${single} }`, { ibans });
    expect(data?.l0).toEqual(ibans.map(() => ({ valid: true })));
    expect(data?.l1).toEqual(ibans.map(() => null));
    expect(data?.ibanValidation).toBeNull();
    expect(errors).toHaveLength(991);
    const message = 'A query may request at most 10 IBANs, duplicates included; split it into several queries.';
    const extensions = { code: 'BAD_USER_INPUT', service: null, retryable: false };
    expect(errors?.[0]).toMatchObject({ message, extensions });
    const longer = await ask('query ($i: [String!]!) { ibanValidations(ibans: $i) { valid } }', {
      i: [...ibans, 'DE'],
    });
    expect(longer.errors).toMatchObject([{ message }]);
    expect(upstream.calls).toHaveLength(1);
  });
});

describe('a mutation', () => {
  it('orders at most 5 essays, including aliases', async () => {
    const { ask, upstream } = await tScriptedGateway(replyJson(200, { essay: 'Pens.' }));
    const order = 'generateEssay(input: { description: "Pens", wordCount: 9 }) { __typename }';
    const { data = {} } = await ask(`mutation { ${repeat(6, (index) => `a${index}: ${order}`)} }`);
    expect(Object.values(data).map(({ __typename }) => __typename)).toEqual([
      ...Array.from({ length: 5 }, () => 'Essay'),
      'InvalidEssayInput',
    ]);
    expect(upstream.calls).toHaveLength(5);
  });

  it('returns at most 20 texts of essays, however many aliases repeat them', async () => {
    const { ask } = await tScriptedGateway(replyJson(200, { essay: 'Pens. '.repeat(10_000) }));
    const texts = repeat(500, (index) => `t${index}: text`);
    const order = 'generateEssay(input: { description: "Pens", wordCount: 9 })';
    const { data, errors } = await ask(
      `mutation { few: ${order} { ... on Essay { text } } many: ${order} { ... on Essay { ${texts} } } }`,
    );
    expect(data).toBeNull();
    expect(errors?.[0]?.message).toBe('A response may contain at most 20 texts of essays, aliases included.');
  });
});

describe('a query', () => {
  it('has at most 20 lists of banks', async () => {
    const { ask, upstream } = await tScriptedGateway(replyJson(200, { data: [] }));
    const { errors } = await ask(
      `{ ${repeat(30, (index) => `l${index}: banks(search: "n${index}") { totalCount }`)} }`,
    );
    expect(errors).toHaveLength(10);
    expect(errors?.[0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } });
    expect(upstream.calls).toHaveLength(20);
  });
});
