import type { DocumentNode } from 'graphql';
import { beforeEach, expect, it, vi } from 'vitest';
import { schema } from '../../src/graphql/schema/schema.ts';
import { createRandom, type Random } from '../support/e2e/random.ts';
import { tCoverage } from '../support/fuzz/coverage.ts';
import { tDocuments } from '../support/graphql/documents.ts';
import { createRandomQueries, type RandomRequest } from '../support/graphql/random-documents.ts';
import { texts } from '../support/graphql/scripted-services.ts';

/*
 * Documents that differ in their texts, and in little else, each have their own answer. More of them, or others:
 *   FUZZ_SHAPES=20000 FUZZ_SEED=7 npx vitest run test/fuzz/shapes.test.ts
 */

const documents = Number(process.env.FUZZ_SHAPES ?? 200);
const seed = Number(process.env.FUZZ_SEED ?? 1);
const documentsPerQuery = 8;

beforeEach(() => {
  // Compiling takes no time, so the next operation may be compiled at once.
  vi.useFakeTimers({ toFake: ['performance'] });
});

it(`a document of a known shape has the answer that it has when it is sent first: ${documents} documents (seed ${seed})`, {
  timeout: 60_000 + documents * 100,
}, async () => {
  const random = createRandom(seed);
  const nextQuery = createRandomQueries(schema, random, plainTexts);
  const nextMutation = createRandomQueries(schema, random, plainTexts, schema.getMutationType());
  const { change, kinds } = createChange(random);
  const { prepare, run } = tDocuments();
  const outcomes = new Map<DocumentNode, { query: string; outcome: string }>();
  const coverage = tCoverage();

  for (let number = 0; number < documents; ) {
    const first = random(9) === 0 ? nextMutation() : nextQuery();
    if (!first.query.includes('"')) continue;
    for (let time = 0; time < documentsPerQuery; time += 1, number += 1) {
      const { kind, request } = change(first, number);
      const outcome = await run(request);
      expect(outcome, `${kind}, document ${number}: ${JSON.stringify(request)}`).toEqual(
        await tDocuments().run(request),
      );
      coverage.count(kind);

      const { document, errors } = prepare(request.query);
      if (errors.length > 0) coverage.count('is not valid');
      if (document === null) continue;
      const other = outcomes.get(document);
      outcomes.set(document, { query: request.query, outcome: JSON.stringify(outcome) });
      if (other === undefined || other.query === request.query) continue;
      coverage.count('shares a prepared document');
      if (other.outcome !== JSON.stringify(outcome)) coverage.count('has another answer than the one before');
      if (outcome.errors.length > 0) coverage.count('has errors');
    }
  }
  coverage.check(documents, {
    'shares a prepared document': 10,
    'has another answer than the one before': 5,
    'has errors': 4,
    'is not valid': 8,
    ...Object.fromEntries(kinds.map((kind) => [kind, 1])),
  });
});

/** Without empty texts and escapes, so that most documents have a shape. */
const plainTexts = Object.fromEntries(
  Object.entries(texts).map(([name, values]) => [name, values.filter((text) => /^[^"\\]+$/.test(text))]),
);

/** Changes texts, and in some documents something else, which must not be taken for a text. */
function createChange(random: Random) {
  const pick = <T>(choices: readonly T[]): T => choices[random(choices.length - 1)] as T;
  const plain = Object.values(plainTexts).flat();
  const odd = ['é', '😀', '#', '{', '$__text0', ' ', '\u2028', 'x'.repeat(200), 'x'.repeat(201), '\t', '\\', '"', ''];

  const inTexts: Record<string, (text: string) => string> = {
    'an escape': (text) =>
      text.replace(/"(\w)/, (_, letter) => `"\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`),
    'a block string': (text) => `""${text}""`,
    null: () => 'null',
    'a longer list': (text) => `${text}, ${text}`,
    'a list': (text) => `[${text}]`,
    'a number': () => String(random(99)),
    'a name': () => pick(['ACADEMIC', 'NARRATIVE', 'true', 'nothing']),
  };
  const besideTexts: Record<string, (part: string) => string> = {
    number: (part) => part.replace(/\b\d+\b/, String(random(99))),
    enum: (part) => part.replace(/\b[A-Z_]{5,}\b/, pick(['ACADEMIC', 'STANDARD', 'NARRATIVE', 'NOTHING'])),
    'name of the operation': (part) => part.replace(/^(query|mutation) \w*/, (_, type) => `${type} N${random(99)}`),
    alias: (part) => part.replace(/\b\w+: (?=\w+ [({])/, `a${random(99)}: `),
    field: (part) => part.replace(/\b(code|iban|name|bic|valid)\b/, pick(['code', 'iban', 'name', 'bic', 'valid'])),
    comment: (part) => part.replace(/ /, ` # ${pick(['', '"', '"x"', '"""'])}\n`),
    spaces: (part) => part.replace(/ /, pick(['  ', '\n', '\r\n', ' ,', '\ufeff'])),
  };

  const kinds = [...Object.keys(inTexts), ...Object.keys(besideTexts), 'variables'];
  return { kinds, change };

  function change({ query, variables }: RandomRequest, number: number): { kind: string; request: RandomRequest } {
    const parts = query.split(/("(?:[^"\\]|\\.)*")/);
    const changed = parts.map((part, index) =>
      index % 2 === 1 && random(2) > 0 ? JSON.stringify(pick(random(7) > 0 ? plain : odd)) : part,
    );
    // Every third document has another change, each kind in turn.
    const kind = (number % 3 === 0 && kinds[(number / 3) % kinds.length]) || 'texts';
    if (kind === 'variables') return { kind, request: renameVariables({ query: changed.join(''), variables }) };
    const isInText = kind in inTexts;
    const make = inTexts[kind] ?? besideTexts[kind];
    const index = 2 * random((parts.length - 3) / 2) + (isInText ? 1 : 0);
    const start = kind === 'name of the operation' ? 0 : index;
    if (make) changed[start] = make(changed[start] ?? '');
    return { kind, request: { query: changed.join(''), variables } };
  }
}

function renameVariables({ query, variables }: RandomRequest): RandomRequest {
  const renamed = Object.entries(variables).map(([name, value]) => [`${name}_`, value]);
  return { query: query.replaceAll(/\$\w+/g, '$&_'), variables: Object.fromEntries(renamed) };
}
