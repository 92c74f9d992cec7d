import { beforeEach, describe, expect, it, vi } from 'vitest';
import { tDocuments } from '../../support/graphql/documents.ts';
import { interpret } from '../../support/graphql/outcomes.ts';

beforeEach(() => {
  // Compiling takes no time, so the next operation may be compiled at once.
  vi.useFakeTimers({ toFake: ['performance'] });
});

describe('a document with other texts', () => {
  it('is not prepared again', async () => {
    const { prepare, run, status } = tDocuments();
    const queryOf = (code: string) => `query Q { country(code: "${code}") { code name } }`;
    for (const code of ['DE', 'FR', 'GB', 'XX', 'DE']) {
      const request = { query: queryOf(code), variables: {} };
      expect(await run(request)).toEqual(await interpret(request));
    }
    expect(status().entries).toBe(1);
    const { label } = prepare(queryOf('FR')).operation(null);
    expect(label).toMatchObject({ type: 'query', name: 'Q' });
  });

  it('has the same cost', () => {
    const { prepare } = tDocuments();
    const queryOf = (text: string) =>
      `query ($n: Int) { ibanValidations(ibans: ["${text}", "x", "y"]) { iban } banks(country: "${text}", first: $n) { totalCount } }`;
    for (const text of ['DE', 'FR', 'GB']) {
      const [operation, expected] = [prepare, tDocuments().prepare].map((one) => one(queryOf(text)).operation(null));
      expect(operation?.cost({ n: 7 })).toBe(expected?.cost({ n: 7 }));
    }
  });

  it('has its own locations in errors', async () => {
    const { run } = tDocuments();
    const queryOf = (...ibans: string[]) =>
      `{ a: __typename\n ${ibans.map((iban, index) => `f${index}: ibanValidation(iban: "${iban}") { valid }`).join(' ')} }`;
    const [timesOut, fails] = ['FR1420041010050500013M02606', 'GB29NWBK60161331926819'];
    for (const ibans of [
      ['DE89370400440532013000', timesOut],
      ['x', fails],
      ['not an IBAN', timesOut],
      [fails, timesOut],
      ['y', fails],
    ]) {
      const request = { query: queryOf(...ibans), variables: {} };
      const outcome = await run(request);
      expect(outcome).toEqual(await interpret(request));
      const column = request.query.split('\n')[1]?.lastIndexOf('valid') ?? 0;
      expect(outcome.errors.join()).toContain(`"locations":[{"line":2,"column":${column + 1}}]`);
    }
  });

  it.each([
    '{ banks(country: "DE", first: "5") { totalCount } }',
    '{ a: country(code: "DE") { code } b: country(code: $__text0) { code } }',
    'query ($__text0: String!) { a: country(code: "DE") { code } b: country(code: $__text0) { code } }',
    '{ country(code: "DE") { code } country(code: "FR") { name } }',
    '{ country(code: "DE") { code } country(code: "DE") { name } }',
    'query A { country(code: "DE") { code } } query B { country(code: "FR") { code } }',
    'query ($code: String = "DE") { a: country(code: $code) { code } b: country(code: "FR") { code } }',
    '{ _entities(representations: [{ __typename: "IbanCountry", code: "DE" }]) { __typename } }',
    '"about it" query { country(code: "DE") { code } }',
    '\n"about it" query { country(code: "DE") { code } }',
    `{ country(code: "${'D'.repeat(99)}") { code } }`,
    '{ ibanValidations(ibans: "x") { iban } }',
    '{ ibanValidations(ibans: ["x", "y"]) { iban } }',
  ])('has the same result as when it is sent first: %s', async (query) => {
    const { run } = tDocuments();
    for (const changed of [query, query.replaceAll('DE', 'FR'), query.replaceAll('DE', 'GB'), query, query]) {
      const request = { query: changed, variables: {} };
      expect(await run(request)).toEqual(await tDocuments().run(request));
    }
  });

  it('has the same errors of arguments, which may show a text and a variable', async () => {
    const { run } = tDocuments();
    const queryOf = (text: string) =>
      `mutation ($count: Int = 1) { generateEssay(input: { description: "${text}", wordCount: $count }) { __typename } }`;
    for (const text of ['Ink', 'Pens', 'Paper']) {
      const request = { query: queryOf(text), variables: { count: null } };
      const outcome = await run(request);
      expect(outcome.errors.join()).toContain(text);
      expect(outcome).toEqual(await interpret(request));
    }
  });

  it('is not cached if it is sent once and cannot be shared', () => {
    const { prepare, status } = tDocuments();
    const queryOf = (code: string) => `{ country(code: "${code}") { code } country(code: "${code}") { name } }`;
    for (let count = 0; count < 20; count += 1) expect(prepare(queryOf(`A${count}`)).errors).toEqual([]);
    expect(status()).toEqual({ entries: 0, bytes: 0 });
    prepare(queryOf('A19'));
    expect(status().entries).toBe(1);
  });

  it('is not shared if it has many or long texts, which would take memory', () => {
    const { prepare, status } = tDocuments();
    const withLong = (count: number) => `{ country(code: "${count}${'x'.repeat(200)}") { code } }`;
    const withMany = (count: number) => `{ ibanValidations(ibans: [${`"x${count}" `.repeat(21)}]) { iban } }`;
    const withSome = (count: number) => `{ ibanValidations(ibans: [${`"x${count}" `.repeat(20)}]) { iban } }`;
    for (const queryOf of [withLong, withMany]) for (let count = 0; count < 5; count += 1) prepare(queryOf(count));
    expect(status().entries).toBe(0);
    for (let count = 0; count < 5; count += 1) prepare(withSome(count));
    expect(status().entries).toBe(1);
    // A kilobyte for each variable.
    expect(status().bytes).toBeGreaterThan(20_000);
  });

  it('is refused if it has too many characters', () => {
    const queryOf = (code: string) => `{ country(code: "${code}") { code } }`;
    const { prepare } = tDocuments(queryOf('DE').length + 100);
    for (const code of ['DE', 'FR', 'GB', 'x'.repeat(102)]) expect(prepare(queryOf(code)).errors).toEqual([]);
    const [error] = prepare(queryOf('x'.repeat(103))).errors;
    expect(error?.message).toContain('MAX_QUERY_CHARS');
  });

  it('gets the text of its own and not a variable of the client', async () => {
    const { run } = tDocuments();
    for (const code of ['DE', 'FR', 'GB', 'NL']) {
      const query = `{ country(code: "${code}") { code } }`;
      const outcome = await run({ query, variables: { __text0: 'AT', __proto__: { __text0: 'AT' } } });
      expect(outcome).toEqual({ data: JSON.stringify({ country: { code } }), errors: [] });
    }
  });
});

describe('a document that is not valid', () => {
  const aborted = 'Too many validation errors, error limit reached. Validation aborted.';
  const tooManyComparisons = expect.stringContaining('more than 20000 comparisons. Select a field once');
  const manyDirectives = 'A field, fragment or operation may have at most 5 directives.';
  it.each([
    [`{ ${'unknown '.repeat(100)} }`, 100, 'Cannot query field "unknown" on type "Query".'],
    [`{ ${'unknown '.repeat(150)} }`, 101, aborted],
    [`query ($a: Country) { ${'__typename '.repeat(4_900)} }`, 1, tooManyComparisons],
    [`{ unknown ${'@unknown '.repeat(6)} }`, 1, manyDirectives],
  ])('has as many errors as reported: %.20s, %i', (query, count, last) => {
    const { errors, operation } = tDocuments().prepare(query);
    expect(errors).toHaveLength(count);
    expect(errors.at(-1)?.message).toEqual(last);
    for (const { extensions } of errors)
      expect(extensions).toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED', http: { status: 400 } });
    expect(() => operation(null)).toThrow(errors[0]);
  });
});
