import { repeat } from '../gateway/graphql/documents.ts';
import type { Random } from '../random.ts';
import type { FuzzRequest, Measurement } from './measured-gateway.ts';

/*
 * Searches for the request whose answer is worst: changes the worst one so far at random, and keeps the change if its answer
 * is worse. Another kind of request is searched in the same way: it says how one is created, changed and measured.
 */

export interface Search<Request, Measured> {
  create(random: Random): Request;
  change(request: Request, random: Random): Request;
  measure(request: Request): Promise<Measured>;
}

export type Weigh<Measured> = (measured: Measured) => number;

/** The worst request of so many, by a figure. */
export async function findWorst<Request, Measured>(
  { create, change, measure }: Search<Request, Measured>,
  weigh: Weigh<Measured>,
  requests: number,
  random: Random,
): Promise<Measured> {
  let request = create(random);
  let worst = await measure(request);
  for (let count = 1; count < requests; count += 1) {
    const changed = random(7) === 0 ? create(random) : change(request, random);
    const measured = await measure(changed);
    if (weigh(measured) <= weigh(worst)) continue;
    request = changed;
    worst = measured;
  }
  return worst;
}

/** A query of GraphQL, by what multiplies its answer. */
interface Answer {
  root: number;
  /** Of the root field. */
  rootAliases: number;
  /** Of its list. */
  items: number;
  selections: { selection: number; aliases: number }[];
}

export type MeasureRequest = (request: FuzzRequest) => Promise<Measurement>;

/** Aliases x strings x lists. */
export function createAnswerSearch(measure: MeasureRequest): Search<Answer, Measurement> {
  return { create, change, measure: (answer) => measure(write(answer)) };
}

interface Root {
  field: string;
  type: keyof typeof selections;
  variables?: (items: number) => Record<string, unknown>;
}

const roots: readonly Root[] = [
  { field: 'countries', type: 'country' },
  { field: 'country(code: "FR")', type: 'country' },
  {
    field: 'ibanValidations(ibans: $ibans)',
    type: 'iban',
    variables: (items) => ({ ibans: listOf(items, (index) => (index % 3 === 0 ? longText : ibanOf(index))) }),
  },
  {
    field: '_entities(representations: $entities)',
    type: 'entity',
    variables: (items) => ({
      entities: listOf(items, (index) => ({ __typename: 'IbanValidation', iban: ibanOf(index) })),
    }),
  },
  { field: 'essayOrders(first: 100)', type: 'orders' },
  { field: 'essayOrder(idempotencyKey: "order-1")', type: 'order' },
];

const country = [
  'name',
  'ibanFormatAsRegex',
  'ibanFields { name length }',
  'territories { code name parent { code } }',
];
const iban = [
  'iban',
  'valid',
  'nationalCheck',
  'suggestions',
  'format { printFormat masked problems }',
  'ibanData { bban country }',
  'bankData { name }',
  'country { name territories { code } }',
];
const selections = {
  country,
  iban,
  entity: iban.map((selection) => `... on IbanValidation { ${selection} }`),
  order: [
    'id',
    'input { description }',
    'state { ... on EssayFinished { essay { wordCount } } }',
    'state { ... on EssayFinished { essay { text } } }',
  ],
  orders: [
    'nodes { id }',
    'nodes { input { description } }',
    'edges { cursor node { createdAt input { titles mode } } }',
  ],
};

/** The control character has six bytes in JSON. */
const longText = '\u0001'.repeat(64);

function ibanOf(index: number): string {
  return `DE${10 + (index % 80)}370400440532${String(index).padStart(6, '0')}`;
}

function listOf<Item>(length: number, create: (index: number) => Item): Item[] {
  return Array.from({ length }, (_, index) => create(index));
}

function create(random: Random): Answer {
  return {
    root: random(roots.length - 1),
    rootAliases: 2 ** random(5),
    items: 10 ** random(3),
    selections: listOf(1 + random(1), () => createSelection(random)),
  };
}

function createSelection(random: Random) {
  return { selection: random(8), aliases: 2 ** random(9) };
}

function change(answer: Answer, random: Random): Answer {
  const { rootAliases, items, selections } = answer;
  const index = random(selections.length - 1);
  const selection = selections[index] ?? createSelection(random);
  switch (random(7)) {
    case 0:
      return { ...answer, rootAliases: Math.ceil(rootAliases * 1.5) };
    case 1:
      return { ...answer, rootAliases: Math.ceil(rootAliases / 2) };
    case 2:
      return { ...answer, items: Math.min(1_000, Math.ceil(items * 1.5)) };
    case 3:
      return { ...answer, items: Math.ceil(items / 2) };
    case 4:
      return { ...answer, selections: [...selections, createSelection(random)] };
    case 5:
      return { ...answer, selections: selections.length > 1 ? selections.toSpliced(index, 1) : selections };
    case 6:
      return {
        ...answer,
        selections: selections.with(index, { ...selection, aliases: Math.ceil(selection.aliases * 1.3) }),
      };
    default:
      return {
        ...answer,
        selections: selections.with(index, { ...selection, aliases: Math.ceil(selection.aliases / 2) }),
      };
  }
}

/** Names are long where they are few. */
function write({ root, rootAliases, items, selections: chosen }: Answer): FuzzRequest {
  const { field, type, variables = () => ({}) } = roots[root] ?? { field: 'countries', type: 'country' };
  const body = chosen.map(({ selection, aliases }, part) => {
    const text = selections[type][selection % selections[type].length] ?? '__typename';
    const prefix = aliases < 300 ? 'a'.repeat(60) : 'a';
    return repeat(aliases, (index) =>
      text.replace(/\w+(?=( \{| \}|$|\())/, (name) => `${prefix}${part}_${index}: ${name}`),
    );
  });
  const declared = Object.keys(variables(0)).map((name) => declarations[name as keyof typeof declarations]);
  const head = declared.length > 0 ? `query (${declared.join(', ')})` : '';
  return {
    query: `${head} { ${repeat(rootAliases, (index) => `r${index}: ${field} { ${body.join(' ')} }`)} }`,
    variables: variables(items),
  };
}

const declarations = { ibans: '$ibans: [String!]!', entities: '$entities: [_Any!]!' };
