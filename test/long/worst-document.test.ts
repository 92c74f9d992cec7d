import { expect, it } from 'vitest';
import { createPreparedDocuments } from '../../src/gateway/graphql/documents/documents.ts';
import { schema } from '../../src/gateway/graphql/schema/schema.ts';
import { repeat } from '../support/gateway/graphql/documents.ts';
import { cpuMsOf, leastCpuMs } from '../support/measure.ts';
import { createRandom, type Random } from '../support/random.ts';

/*
 * Searches for the document that takes longest to prepare for its size: changes the worst one so far at random, and keeps the
 * change if the document takes longer.
 */

/** A part of a document: selections that are repeated in some place of it. */
interface Part {
  selection: number;
  count: number;
  place: number;
}

/** The index makes names different. */
const selections: readonly ((index: number) => string)[] = [
  () => 'countries { name }',
  (index) => `a${index}: countries { name }`,
  () => 'country(code: "DE") { code name territories { code } }',
  (index) => `a${index}: country(code: "DE") { parent { parent { code } } }`,
  () => 'generateIban(input: { country: "DE", bankCode: "37040044", accountNumber: "532013000" }) { __typename }',
  (index) => `a${index % 9}: bank(bic: $v0) { name bic }`,
  (index) => `a${index}: ibanValidation(iban: $v${index}) { ...Deep }`,
  () => 'ibanValidations(ibans: ["DE89370400440532013000", "FR14", "", "NL91ABNA0417164300"]) { valid ...Deep }',
  (index) => `unknown${index}`,
  (index) => `country(cod${index}: "DE", code: 1) { nam }`,
  (index) => `...F${index}`,
  (index) => `...F${index % 7}`,
  () => '__typename @skip(if: true) @include(if: $v0)',
  () => '__schema { types { name fields { name type { name ofType { name } } } } }',
  (index) => `... on Country${index} { code }`,
  () => '""" text """',
  () => '# comment\n\n\n\n,,,,',
  () => `bank(bic: "${'\\u0041'.repeat(20)}") { name }`,
];

const places: readonly ((body: string, name: number) => string)[] = [
  (body) => `{ ${body} }`,
  (body) => `{ ... on Query { ${body} } ... { ${body} } }`,
  (body, name) => `query Q${name} { ${body} }`,
  (body, name) => `query Q${name}(${repeat(20, (index) => `$v${index}: String = "a"`)}) { ${body} }`,
  (body, name) => `fragment F${name} on Query { ${body} }`,
  (body, name) =>
    repeat(20, (index) => `fragment F${20 * name + index} on Query { ...F${20 * name + index + 1} ${body} }`),
  (body, name) => `fragment F${name} on Query { ${repeat(10, (index) => `n${index}: `)} ${body} }`,
];

const deep = 'fragment Deep on IbanValidation { country { parent { territories { code name } } } ibanData { bban } }';

interface WorstDocument {
  text: string;
  /** CPU time of preparing it. */
  ms: number;
  error: string | null;
}

/** @param accepted whether to search among valid documents, or among those that are refused */
function findWorstDocument(random: Random, rounds: number, accepted: boolean): WorstDocument {
  let parts: Part[] = [{ selection: 1, count: 64, place: 0 }];
  let worst: WorstDocument = { text: '', ms: 0, error: null };
  for (let round = 0; round < rounds; round += 1) {
    const changed =
      round === 0 ? parts : random(9) === 0 ? [createPart(random), createPart(random)] : change(parts, random);
    const text = write(changed);
    if (text.length > maxLength) continue;
    const document = measure(text, worst.ms);
    if ((document.error === null) !== accepted || document.ms <= worst.ms) continue;
    worst = document;
    parts = changed;
  }
  return worst;
}

const maxLength = 16_000;

/** Of nearly as many tokens as are allowed. */
const ordinary = `{ ${repeat(400, (index) => `a${index}: country(code: "DE") { code name }`)} }`;

function createPart(random: Random): Part {
  return {
    selection: random(selections.length - 1),
    count: 2 ** random(9),
    place: random(places.length - 1),
  };
}

function change(parts: readonly Part[], random: Random): Part[] {
  const index = random(parts.length - 1);
  const part = parts[index] ?? createPart(random);
  switch (random(5)) {
    case 0:
      return [...parts, createPart(random)];
    case 1:
      return parts.length > 1 ? parts.toSpliced(index, 1) : [createPart(random)];
    case 2:
      return parts.with(index, { ...part, selection: random(selections.length - 1) });
    case 3:
      return parts.with(index, { ...part, place: random(places.length - 1) });
    case 4:
      return parts.with(index, { ...part, count: 1 + Math.floor(part.count / 2) });
    default:
      return parts.with(index, { ...part, count: Math.ceil(part.count * 1.5) });
  }
}

function write(parts: readonly Part[]): string {
  const definitions = parts.map(({ selection, count, place }, name) => {
    const body = repeat(count, selections[selection] ?? String);
    return places[place]?.(body, name) ?? body;
  });
  const text = definitions.join(' ');
  return text.includes('...Deep') ? `${text} ${deep}` : text;
}

/** The least of three times, unless the first one is below that of the worst document. */
function measure(text: string, worstMs: number): WorstDocument {
  let ms = Number.POSITIVE_INFINITY;
  let error: string | null = null;
  for (let time = 0; time < 3 && ms > worstMs; time += 1)
    ms = Math.min(
      ms,
      cpuMsOf(() => {
        error = prepareAll(text);
      }),
    );
  return { text, ms, error };
}

/** With the cost of its operations. @returns why it is refused, or null */
function prepareAll(text: string): string | null {
  const { prepare } = createPreparedDocuments({ schema, hasCallers: false });
  const { errors, document, operation } = prepare(text);
  for (const node of errors.length === 0 ? (document?.definitions ?? []) : []) {
    if (node.kind === 'OperationDefinition') operation(node.name?.value).cost({});
  }
  return errors[0]?.message ?? null;
}

/*
 * No document of 16 KB takes more than 25 ms of CPU to be prepared, or refused. Where other tests share the cores, it may take 50 ms,
 * or three times as long as an ordinary document. A longer search:
 *   LONG_TESTS=1 WORST_DOCUMENT_ROUNDS=5000 FUZZ_SEED=7 npx vitest run test/long/worst-document.test.ts
 */

const { WORST_DOCUMENT_ROUNDS, FUZZ_SEED } = process.env;
const rounds = Number(WORST_DOCUMENT_ROUNDS ?? 20);
const seed = Number(FUZZ_SEED ?? 1);
const maxMs = 50;

it.each([
  ['accepted', true],
  ['refused', false],
])(
  `the worst %s document is prepared quickly (seed ${seed})`,
  { timeout: 300_000 + rounds * 200 },
  (kind, isAccepted) => {
    const worst = findWorstDocument(createRandom(seed), rounds, isAccepted);
    if (WORST_DOCUMENT_ROUNDS !== undefined) {
      process.stdout.write(`${kind}: ${worst.ms.toFixed(1)} ms, ${worst.text.length} characters, ${worst.error}\n`);
    }
    // A search that measures nothing would find nothing.
    expect(worst.ms).toBeGreaterThan(0);
    expect(worst.text.length).toBeGreaterThan(500);
    expect(worst.error === null).toBe(isAccepted);
    const least = leastCpuMs({ worst: () => prepareAll(worst.text), ordinary: () => prepareAll(ordinary) });
    expect(least.worst, worst.text.slice(0, 2_000)).toBeLessThan(Math.max(maxMs, 3 * least.ordinary));
  },
);
