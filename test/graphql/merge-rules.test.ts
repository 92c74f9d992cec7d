import {
  type ASTNode,
  BREAK,
  type DocumentNode,
  Kind,
  parse,
  specifiedRules,
  type ValidationRule,
  validate,
  visit,
  visitInParallel,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { mergeRules } from '../../src/graphql/merge-rules.ts';
import { schema } from '../../src/graphql/schema/schema.ts';
import { createValidation } from '../../src/graphql/validate-document.ts';
import { createRandom, type Random } from '../e2e/random.ts';
import { createRandomQueries } from './random-documents.ts';
import { texts } from './scripted-services.ts';

/* More random documents, or others: DOCUMENTS=20000 SEED=7 npx vitest run test/graphql/merge-rules.test.ts */
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
  '{ ibanValidation(iban: "a", iban: "b") { valid @skip(if: true) @skip(if: true) @unknown } }',
  'subscription { a }',
  `{ ${'unknown '.repeat(100)} }`,
  `{ ${'unknown '.repeat(101)} }`,
  `query ($a: Country) { ${'__typename '.repeat(4_900)} }`,
  '"described" query ($a: [String!]! = ["a"] @unknown) { iban(iban: [{ a: $a }, $b]) { ... @skip(if: $c) { code } } }',
];

describe('merged rules', () => {
  it(`find the same errors in the same order as GraphQL.js: ${documents} documents with mistakes (seed ${seed})`, {
    timeout: 600_000,
  }, () => {
    const random = createRandom(seed);
    const next = createRandomQueries(schema, random, texts);
    const validateMerged = createValidation(specifiedRules);
    const messages = new Set<string>();
    let withErrors = 0;
    for (let count = 0; count < documents; ) {
      const mistake = mistakes[count];
      const document = mistake === undefined ? tryParse(change(next().query, random)) : parse(mistake);
      if (document === null) continue;
      count += 1;
      const expected = validate(schema, document, specifiedRules).map((error) => error.toJSON());
      expect(validateMerged(schema, document).map((error) => error.toJSON())).toEqual(expected);
      if (expected.length > 0) withErrors += 1;
      for (const { message } of expected) messages.add(message);
    }
    expect(messages).toContain('Validation aborted.');
    expect(withErrors).toBeGreaterThan(documents / 3);
  });

  it('skip descendants and end visits as visitInParallel does', () => {
    const document = parse('{ a { b { c } } d(e: 1) f }');
    const results = [undefined, false, BREAK];
    for (const [first, second] of results.flatMap((a) => results.map((b) => [a, b] as const))) {
      const record = (visits: string[]): ValidationRule[] => [
        () => ({
          Field: (node) => {
            visits.push(`first enters ${node.name.value}`);
            return node.name.value === 'a' ? first : undefined;
          },
        }),
        () => ({
          enter: (node) => void visits.push(`second enters ${node.kind}`),
          leave: (node: ASTNode) => {
            visits.push(`second leaves ${node.kind}`);
            return node.kind === Kind.SELECTION_SET ? second : undefined;
          },
        }),
        () => ({ Name: { leave: (node) => void visits.push(`third leaves ${node.value}`) } }),
      ];
      const expected: string[] = [];
      const context = undefined as never;
      visit(document, visitInParallel(record(expected).map((rule) => rule(context))));
      const actual: string[] = [];
      visit(document, mergeRules(record(actual))(context));
      expect(actual).toEqual(expected);
      expect(actual).toContain('third leaves f');
    }
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
