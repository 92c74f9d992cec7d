import { type DocumentNode, Kind, parse, specifiedRules, TypeInfo, ValidationContext, validate } from 'graphql';
import { describe, expect, it } from 'vitest';
import { createValidation } from '../../../src/graphql/documents/validate-document.ts';
import { schema } from '../../../src/graphql/schema/schema.ts';
import { createRandom, type Random } from '../../support/e2e/random.ts';
import { createRandomQueries } from '../../support/graphql/random-documents.ts';
import { texts } from '../../support/graphql/scripted-services.ts';

/* More random documents, or others: DOCUMENTS=20000 SEED=7 npx vitest run test/graphql/documents/validate-document.test.ts */
const documents = Number(process.env.DOCUMENTS ?? 150);
const seed = Number(process.env.SEED ?? 1);

/** They break the rules that random changes hardly ever break. */
const mistakes = [
  'type Query { a: String } { __typename }',
  '{ __typename } { __typename }',
  'query Q { __typename } query Q { __typename }',
  'fragment F on Country { ...F } { country(code: "DE") { ...F } }',
  'fragment F on Country { name } fragment F on Country { code } { country(code: "DE") { ...F } }',
  'fragment F on Country { name } { __typename }',
  'fragment F on String { name } { __typename ...F }',
  'query ($a: Country) { __typename }',
  'query ($a: String, $a: String) { iban(iban: $a) { __typename } }',
  '{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }',
  'mutation { generateEssay(input: { mode: WRONG, mode: WRONG }) { __typename } }',
  '{ ibanValidation(iban: $missing) { valid } }',
  'query ($a: Int, $b: Int) { ...F ...G } fragment F on Query { iban(iban: $a) { ...G code } } fragment G on Query { __typename @skip(if: $c) }',
  'fragment F on Query { iban(iban: $a) { code } } query ($a: Int, $b: Int) { ...F } query Q { ...F } fragment G on Query { iban(iban: $d) }',
  '{ ibanValidation(iban: "a", iban: "b") { valid @skip(if: true) @skip(if: true) @unknown } }',
  'subscription { a }',
  `{ ${'unknown '.repeat(100)} }`,
  `{ ${'unknown '.repeat(101)} }`,
  `query ($a: Country) { ${'__typename '.repeat(4_900)} }`,
  '"described" query ($a: [String!]! = ["a"] @unknown) { iban(iban: [{ a: $a }, $b]) { ... @skip(if: $c) { code } } }',
];

describe('validation', () => {
  it(`finds the same errors in the same order as GraphQL.js: ${documents} documents with mistakes (seed ${seed})`, {
    timeout: 600_000,
  }, () => {
    const random = createRandom(seed);
    const next = createRandomQueries(schema, random, texts);
    const validateDocument = createValidation(specifiedRules);
    const messages = new Set<string>();
    let withErrors = 0;
    for (let count = 0; count < documents; ) {
      const mistake = mistakes[count];
      const document = mistake === undefined ? tryParse(change(next().query, random)) : parse(mistake);
      if (document === null) continue;
      count += 1;
      const expected = validate(schema, document, specifiedRules).map((error) => error.toJSON());
      expect(validateDocument(schema, document).map((error) => error.toJSON())).toEqual(expected);
      if (expected.length > 0) withErrors += 1;
      for (const { message } of expected) messages.add(message);
    }
    expect(messages).toContain('Validation aborted.');
    expect(withErrors).toBeGreaterThan(documents / 3);
  });

  it('does not visit names, which no rule of GraphQL.js needs', () => {
    const context = new ValidationContext(schema, parse('{ __typename }'), new TypeInfo(schema), () => {});
    for (const rule of specifiedRules) expect(rule(context)).not.toHaveProperty(Kind.NAME);
  });
});

function tryParse(text: string): DocumentNode | null {
  try {
    return parse(text);
  } catch {
    return null;
  }
}

/** Removes, repeats and exchanges some of its words and signs. */
function change(query: string, random: Random): string {
  const tokens = query.match(/"(?:[^"\\]|\\.)*"|\$?\w+|\.\.\.|[^\s\w]/g) ?? [];
  for (let changes = random(3); changes >= 0; changes -= 1) {
    const index = random(tokens.length - 1);
    const other = tokens[random(tokens.length - 1)] ?? '';
    const replacements = [[], [other], [tokens[index] ?? '', other], ['unknown']];
    tokens.splice(index, 1, ...(replacements[random(3)] ?? []));
  }
  return tokens.join(' ');
}
