import { beforeEach, describe, expect, it, vi } from 'vitest';
import { interpret, tDocuments } from '../../../support/gateway/graphql/documents.ts';

beforeEach(() => {
  // Compiling takes no time, so the next operation may be compiled at once.
  vi.useFakeTimers({ toFake: ['performance'] });
});

describe('a document', () => {
  it('is cached when it is sent a second time', () => {
    const { prepare, status } = tDocuments();
    const queryOf = (code: string) => `{ country(code: "${code}") { code } }`;
    for (let count = 0; count < 20; count += 1) expect(prepare(queryOf(`A${count}`)).errors).toEqual([]);
    expect(status()).toEqual({ entries: 0, bytes: 0 });
    const again = prepare(queryOf('A19'));
    expect(status().entries).toBe(1);
    expect(prepare(queryOf('A19'))).toBe(again);
    expect(prepare(queryOf('A18'))).not.toBe(again);
  });

  it.each([
    '{ country(code: "DE") { code name } }',
    '{ banks(country: "DE", first: "5") { totalCount } }',
    '{ country(code: "DE") { code } country(code: "FR") { name } }',
    '{ country(code: "DE") { code } country(code: "DE") { name } }',
    'query A { country(code: "DE") { code } } query B { country(code: "FR") { code } }',
    '{ _entities(representations: [{ __typename: "IbanCountry", code: "DE" }]) { __typename } }',
    '{ ibanValidations(ibans: "x") { iban } }',
  ])('has the result of its own texts, however often documents like it are sent: %s', async (query) => {
    const { run } = tDocuments();
    for (const changed of [query, query.replaceAll('DE', 'FR'), query.replaceAll('DE', 'GB'), query, query]) {
      const request = { query: changed, variables: {} };
      expect(await run(request)).toEqual(await tDocuments().run(request));
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
    ]) {
      const request = { query: queryOf(...ibans), variables: {} };
      const outcome = await run(request);
      expect(outcome).toEqual(await interpret(request));
      const column = request.query.split('\n')[1]?.lastIndexOf('valid') ?? 0;
      expect(outcome.errors.join()).toContain(`"locations":[{"line":2,"column":${column + 1}}]`);
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
