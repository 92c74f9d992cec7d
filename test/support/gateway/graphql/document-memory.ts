import { setImmediate as nextTurn } from 'node:timers/promises';
import { createPreparedDocuments } from '../../../../src/gateway/graphql/documents/documents.ts';
import type { PreparedDocument } from '../../../../src/gateway/graphql/documents/operation.ts';
import { schema } from '../../../../src/gateway/graphql/schema/schema.ts';

/*
 * Run as a process of its own by document-memory.test.ts, with --expose-gc: fills the cache of documents with documents of
 * one kind after the other, and prints for each kind what the cache counts and by how much the heap grew, as a line of JSON.
 */

export interface DocumentMemory {
  name: string;
  entries: number;
  countedMb: number;
  heapMb: number;
}

const fields = 'iban valid problems nationalCheck country { code name isSepa ibanFields { name length } }';
const repeat = (count: number, create: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => create(index)).join('');
const entities = (list: string) => `_entities(representations: [${list}]) { __typename }`;
const spreads = (bank: number) => repeat(10, (index) => `...F${10 * bank + index}`);
const banks = repeat(25, (index) => `b${index}:bank(bic:"COBADEFF"){${spreads(index)}}`);
const fragments = repeat(250, (index) => `fragment F${index} on BankData{bic}`);
const operations = repeat(99, (index) => `query A${index}{...A}`);

/** The index makes each document another one. */
type Create = (index: number) => string;

const kinds: Readonly<Record<string, Create>> = {
  short: (index) => `{ a${index}: __typename }`,
  ordinary: (index) => `query Q${index}($iban: String!) { ibanValidation(iban: $iban) { ${fields} } }`,
  'with texts': (index) => `{ a${index}: country(code: "DE") { code name } }`,
  'of variables': (index) => `query Q${index}($a: _Any!) { ${entities('$a'.repeat(2_400))} }`,
  'of objects': (index) => `query Q${index} { ${entities('{}'.repeat(2_400))} }`,
  'of spreads': (index) => `query Q${index} { ${'...F'.repeat(2_400)} } fragment F on Query { __typename }`,
  'of operations and fragments': (index) =>
    `query Q${index}{${banks}}${fragments}fragment A on Query{__typename}${operations}`,
};

for (const [name, create] of Object.entries(kinds)) {
  process.stdout.write(`${JSON.stringify(await measure(name, create))}\n`);
}

/** Its cache can be collected afterwards, because nothing refers to it. */
async function measure(name: string, create: Create): Promise<DocumentMemory> {
  const before = await measureHeap();
  const { status } = fill(create);
  const heapMb = (await measureHeap()) - before;
  return { name, entries: status().entries, countedMb: status().bytes / 1e6, heapMb };
}

/** Until the cache counts 4 MB, or is full. */
function fill(create: Create) {
  const documents = createPreparedDocuments({ schema, hasCallers: false });
  for (let index = 0, bytes = -1; (documents.status().bytes > bytes && bytes < 4e6) || index < 2; index += 1) {
    bytes = documents.status().bytes;
    for (let time = 0; time < 3; time += 1) prepareAll(documents.prepare(create(index)));
  }
  return documents;
}

function prepareAll({ document, operation }: PreparedDocument): void {
  for (const definition of document?.definitions ?? []) {
    if (definition.kind === 'OperationDefinition') operation(definition.name?.value);
  }
}

/** In use, in MB, once it has stopped falling: the cache of the kind before is sometimes collected some turns later. */
async function measureHeap(): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (;;) {
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    (globalThis as { gc?: () => void }).gc?.();
    const heapMb = process.memoryUsage().heapUsed / 1e6;
    if (heapMb > least - 0.1) return Math.min(least, heapMb);
    least = heapMb;
  }
}
