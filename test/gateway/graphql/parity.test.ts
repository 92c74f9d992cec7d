import { createHash } from 'node:crypto';
import { Agent } from 'node:http';
import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getIntrospectionQuery,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isNonNullType,
  isObjectType,
  parse,
} from 'graphql';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { schema } from '../../../src/gateway/graphql/schema/schema.ts';
import { repeat } from '../../support/gateway/graphql/documents.ts';
import { type Received, tSend } from '../../support/gateway/http/listening-gateway.ts';
import { tGraphqlServer } from '../../support/gateway/http/request-handler.ts';
import { tGateway } from '../../support/gateway.ts';
import { type Reply, replyJson, replyText, tUpstream } from '../../support/scripted-upstream.ts';
import { replyAsHosted } from '../../support/self-hosted.ts';
import { turns } from '../../support/turns.ts';

/* An ordinary POST gets the same status, headers and bytes whether the gateway or Yoga reads it. */

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-21T12:00:00Z') });
  // Answers stay fresh for a random time.
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
});

const env = {
  STORE_SECRET: 'the-same-in-both-gateways',
  ANONYMOUS_SCOPES: 'bank-data+essays+cost',
  CORS_ORIGINS: 'https://shop.example',
};

describe('an ordinary POST', () => {
  const requests = createParityRequests(schema);

  it(`is answered as if Yoga had read it: ${requests.size} requests`, async () => {
    expect(requests.size).toBeGreaterThan(150);
    // Compiling takes no time, so that every operation is compiled when it comes again.
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: new Date('2026-11-21T12:00:00Z') });
    const pair = await tPair();
    const register = {
      query: registered,
      extensions: { persistedQuery: { version: 1, sha256Hash: hashOf(registered) } },
    };
    for (const way of pair) await way.post({ body: register }, 0);
    const differences: string[] = [];
    for (const [name, request] of requests) differences.push(...(await compare(name, request, pair)));
    expect(differences).toEqual([]);
  });
});

type Way = Awaited<ReturnType<typeof tPair>>[number];

/** Sends a request four times to both ways: interpreted, registered for compilation, compiled, and possibly kept. */
async function compare(name: string, request: ParityRequest, [direct, yoga]: readonly [Way, Way]): Promise<string[]> {
  const differences: string[] = [];
  for (const [index, spaces] of [0, 1, 2, 2].entries()) {
    const expected = describeReply(await yoga.post(request, spaces));
    const actual = describeReply(await direct.post(request, spaces));
    if (expected !== actual) differences.push(`${name}, ${index}:\n  ${actual}\n  ${expected}`);
    await turns(3);
  }
  return differences;
}

function describeReply({ status, headers: { date: _, ...headers }, body }: Received): string {
  const text = headers['content-encoding'] ? body.toString('base64') : body.toString();
  // Ids of essays are random.
  return `${status} ${JSON.stringify(headers)} ${text.replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, 'UUID')}`;
}

/** Two gateways, with a cache of their own each; the second answers all requests with Yoga. */
async function tPair() {
  const upstream = await tUpstream(replyHealthy);
  const options = { bankDataUrl: upstream.url, essaysUrl: upstream.url, env };
  const direct = tGateway(options);
  const { graphql } = tGateway(options);
  const origin = await tGraphqlServer({ answer: graphql.answerWithYoga });
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  return [
    tWay(await direct.listen(), (text) => text),
    // Each document is new, so none is compiled. A space at its end changes no result.
    tWay(origin, makeNew),
  ] as const;

  function tWay(origin: string, change: (body: ParityRequest['body']) => ParityRequest['body']) {
    let count = 0;
    return {
      /** @param spaces after the body: replies are kept by its text */
      post({ body, headers }: ParityRequest, spaces: number) {
        count += 1;
        const changed = change(body);
        const text = typeof changed === 'string' ? changed : JSON.stringify(changed);
        return tSend(`${origin}/graphql`, {
          agent,
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-request-id': `request-${count}`, ...headers },
          body: text + ' '.repeat(spaces),
        });
      },
    };
  }
}

let documents = 0;

function makeNew(body: ParityRequest['body']): ParityRequest['body'] {
  if (typeof body === 'string' || !('query' in body) || typeof body.query !== 'string' || 'extensions' in body)
    return body;
  if (!isParsed(body.query)) return body;
  documents += 1;
  return { ...body, query: `${body.query} #${documents}` };
}

/** In others, a longer document changes errors. */
function isParsed(query: string): boolean {
  try {
    return query.length < 50_000 && parse(query).definitions.length > 0;
  } catch {
    return false;
  }
}

const replyHealthy: Reply = (response, call) => {
  if (call.path !== '/v2/generate/essay/') return replyAsHosted(call)(response, call);
  if (call.body.includes('reject')) return replyJson(422, { detail: 'The description is wrong.' })(response, call);
  if (call.body.includes('fail')) return replyJson(500, {})(response, call);
  if (call.body.includes('garble')) return replyText(200, '{"essay":')(response, call);
  return replyJson(200, { essay: 'Pens hold ink.' })(response, call);
};

interface ParityRequest {
  body: object | string;
  headers?: Record<string, string>;
}

/** One request for each field of the schema, and requests of each other kind. By name. */
function createParityRequests(schema: GraphQLSchema): Map<string, ParityRequest> {
  const fields = createFieldQueries(schema).map(({ name, query }) => [name, { body: { query } }] as const);
  const others = Object.entries(otherBodies).map(([name, body]) => [name, { body }] as const);
  return new Map<string, ParityRequest>([...fields, ...others, ...Object.entries(withHeaders)]);
}

const iban = 'DE89370400440532013000';
const germanIban = `ibanValidation(iban: "${iban}")`;

/** Arguments of fields that need some, by field. */
const fieldArguments: Readonly<Record<string, string>> = {
  'Query.ibanValidation': `(iban: "${iban}")`,
  'Query.ibanValidations': `(ibans: ["${iban}", "DE89370400440532013001"])`,
  'IbanValidation.bicMatch': '(bic: "COBADEFFXXX")',
  'Query.bank': '(bic: "COBADEFFXXX")',
  'Query.banks': '(country: "DE", first: 3)',
  'Query.bicValidation': '(bic: "COBADEFFXXX")',
  'Query.country': '(code: "FR")',
  'Query.essay': '(id: "unknown")',
  'Query.node': '(id: "unknown")',
  'Query.essayOrder': '(id: "unknown")',
  'Query.generateIban': '(input: { country: "DE", bankCode: "37040044", accountNumber: "532013000" })',
  'Query._entities': `(representations: [{ __typename: "IbanValidation", iban: "${iban}" }])`,
  'Mutation.startEssay': '(input: { description: "Pens", wordCount: 10, idempotencyKey: "started pens" })',
  'Mutation.cancelEssayOrder': '(id: "unknown")',
  'Mutation.deleteEssayOrder': '(id: "unknown")',
  'Mutation.generateEssay': '(input: { description: "Pens", wordCount: 10, idempotencyKey: "pens" })',
};

/** A query for each field, on the shortest path to it. */
function createFieldQueries(schema: GraphQLSchema): { name: string; query: string }[] {
  const queries: { name: string; query: string }[] = [];
  const visited = new Set<GraphQLObjectType>();
  const queue: { type: GraphQLObjectType; wrap: (selection: string) => string }[] = [];
  const query = schema.getQueryType();
  const mutation = schema.getMutationType();
  if (query) queue.push({ type: query, wrap: (selection) => `{ ${selection} }` });
  if (mutation) queue.push({ type: mutation, wrap: (selection) => `mutation { ${selection} }` });
  for (const { type, wrap } of queue) {
    if (visited.has(type)) continue;
    visited.add(type);
    for (const field of Object.values(type.getFields())) {
      const text = `${field.name}${argumentsOf(type, field)}`;
      const named = getNamedType(field.type);
      const below = isCompositeType(named) ? ' { __typename }' : '';
      queries.push({ name: `${type.name}.${field.name}`, query: wrap(`__typename ${text}${below}`) });
      const objects = isAbstractType(named) ? schema.getPossibleTypes(named) : isObjectType(named) ? [named] : [];
      for (const object of objects) {
        const on = object === named ? '' : ` ... on ${object.name} {`;
        queue.push({ type: object, wrap: (selection) => wrap(`${text} {${on} ${selection} }${on && ' }'}`) });
      }
    }
  }
  return queries;
}

function argumentsOf({ name }: GraphQLObjectType, field: GraphQLField<unknown, unknown>): string {
  const known = fieldArguments[`${name}.${field.name}`];
  const isComplete =
    known !== undefined ||
    field.args.every(({ type, defaultValue }) => !isNonNullType(type) || defaultValue !== undefined);
  if (!isComplete) throw new Error(`arguments for ${name}.${field.name} are missing`);
  return known ?? '';
}

const order = `mutation ($input: GenerateEssayInput!) { generateEssay(input: $input) {
  __typename ... on Essay { text wordCount mode } ... on UserError { message } ... on InvalidEssayInput { fields { name } }
  ... on EssayAllowanceExhausted { renewsAt } ... on EssayServiceFailed { code retryable rawText } } }`;
const lookUp = 'query ($iban: String!) { ibanValidation(iban: $iban) { iban valid } }';
const several = `query One { country(code: "DE") { name } } query Two { country(code: "FR") { name } }
  mutation Three { generateEssay(input: { description: "", wordCount: 1 }) { __typename } }`;
const entities = `query ($representations: [_Any!]!) { _entities(representations: $representations) {
  __typename ... on IbanValidation { iban valid } ... on IbanCountry { code name } ... on BankData { bic name } } }`;
const page =
  'query ($country: String, $first: Int! = 2, $after: String) { banks(country: $country, first: $first, after: $after) { nodes { name } pageInfo { endCursor } } }';
const generation =
  'query ($input: GenerateIbanInput!) { generateIban(input: $input) { ... on IbanValidation { iban } ... on InvalidIbanFields { message fields { field message } } } }';
const lists = 'query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { iban problems suggestions } }';

const tooExpensive = {
  query: `{ ${repeat(20, (i) => `a${i}: countries { territories { territories { territories { code } } } }`)} }`,
};
const partial = { query: '{ __typename banks(first: 0) { totalCount } }' };
const whether = 'query ($yes: Boolean!) { country(code: "DE") { code name @include(if: $yes) } }';
const skip = 'query ($yes: Boolean = true) { __typename @skip(if: $yes) }';
const sepa = 'query ($isSepa: Boolean) { countries(isSepa: $isSepa) { code } }';
const orderOf = (fields: object) => ({ query: order, variables: { input: { wordCount: 50, ...fields } } });
const entitiesOf = (...representations: unknown[]) => ({ query: entities, variables: { representations } });

const hashOf = (query: string) => createHash('sha256').update(query).digest('hex');
/** Registered before by both gateways. */
const registered = '{ countries(isSepa: true) { code territories { code } } }';
const persistedQuery = { version: 1, sha256Hash: hashOf(registered) };

const otherBodies: Readonly<Record<string, object | string>> = {
  'named fragments': {
    query: `{ ${germanIban} { ...F } country(code: "DE") { ...G } } fragment F on IbanValidation { valid country { ...G } } fragment G on IbanCountry { name }`,
  },
  'inline fragments': { query: `{ ... { __typename } ... on Query { ${germanIban} { ... { valid } } } }` },
  aliases: { query: `{ b: country(code: "DE") { z: name a: code } a: country(code: "FR") { name } }` },
  'odd aliases': {
    query: '{ constructor: __typename toString: __typename __proto__: __typename hasOwnProperty: __typename }',
  },
  'merged fields': { query: `{ country(code: "DE") { name } country(code: "DE") { code name } }` },
  'fields in another order': {
    query: `{ country(code: "DE") { name } ${germanIban} { valid } allowances { service } __typename }`,
  },
  'constant conditions': {
    query: '{ country(code: "DE") { name @skip(if: true) code @include(if: true) isSepa @include(if: false) } }',
  },
  'condition true': { query: whether, variables: { yes: true } },
  'condition false': { query: whether, variables: { yes: false } },
  'condition by default': {
    query: 'query ($yes: Boolean = true) { country(code: "DE") { code @skip(if: $yes) name } }',
  },
  'condition of the wrong type': { query: skip.replace(' = true', '!'), variables: { yes: 'no' } },
  'condition null': { query: skip, variables: { yes: null } },
  'everything skipped': { query: 'query ($no: Boolean!) { __typename @include(if: $no) }', variables: { no: false } },
  'variable right': { query: lookUp, variables: { iban } },
  'variable in another notation': { query: lookUp, variables: { iban: 'de89 3704 0044 0532 0130 00' } },
  'variable missing': { query: lookUp },
  'variables empty': { query: lookUp, variables: {} },
  'variables null': { query: lookUp, variables: null },
  'variables a list': { query: lookUp, variables: [] },
  'variables a text': { query: lookUp, variables: '{}' },
  'variable null': { query: lookUp, variables: { iban: null } },
  'variable a number': { query: lookUp, variables: { iban: 5 } },
  'variable a list': { query: lookUp, variables: { iban: [iban] } },
  'variable an object': { query: lookUp, variables: { iban: {} } },
  'variable too long': { query: lookUp, variables: { iban: '1'.repeat(65) } },
  'variable unknown': { query: lookUp, variables: { iban, other: 1 } },
  'variable of line separators': { query: lookUp, variables: { iban: '\u2028"\\\ud83d\ude00' } },
  'variable of a lone surrogate': { query: lookUp, variables: { iban: '\ud800' } },
  'variables with odd names': {
    query: 'query ($toString: String!) { country(code: $toString) { code } }',
    variables: { toString: 'DE' },
  },
  'variable with an odd name missing': {
    query: 'query ($constructor: String) { banks(country: $constructor, first: 1) { totalCount } }',
  },
  'integer right': { query: page, variables: { country: 'DE', first: 3 } },
  'integer by default': { query: page, variables: { country: 'DE' } },
  'integer null': { query: page, variables: { first: null } },
  'integer a fraction': { query: page, variables: { first: 1.5 } },
  'integer a text': { query: page, variables: { first: '3' } },
  'integer too large': { query: page, variables: { first: 2_147_483_648 } },
  'integer out of range': { query: page, variables: { first: 101 } },
  'cursor right': { query: page, variables: { after: 'b2Zmc2V0OjE' } },
  'cursor wrong': { query: page, variables: { after: 'x' } },
  'id a number': { query: 'query ($id: ID!) { essay(id: $id) { text } }', variables: { id: 7 } },
  'id a boolean': { query: 'query ($id: ID!) { essay(id: $id) { text } }', variables: { id: true } },
  'id a large number': { query: '{ essay(id: 9007199254740993) { text } }' },
  'boolean right': { query: sepa, variables: { isSepa: false } },
  'boolean a number': { query: sepa, variables: { isSepa: 1 } },
  'list right': { query: lists, variables: { ibans: [iban, 'DE89370400440532013001', ''] } },
  'list empty': { query: lists, variables: { ibans: [] } },
  'list a single value': { query: lists, variables: { ibans: iban } },
  'list of wrong items': { query: lists, variables: { ibans: [iban, null, 5] } },
  'list of very many wrong items': { query: lists, variables: { ibans: Array.from({ length: 60 }, () => 5) } },
  'list too long': { query: lists, variables: { ibans: Array.from({ length: 1_001 }, () => '') } },
  'list of a literal and a variable': {
    query: 'query ($iban: String!) { ibanValidations(ibans: ["x", $iban]) { iban } }',
    variables: { iban },
  },
  'list with a default': {
    query: `query ($ibans: [String!]! = ["${iban}"]) { ibanValidations(ibans: $ibans) { valid } }`,
  },
  'list item too long': { query: lists, variables: { ibans: [iban, '1'.repeat(65), 'x'] } },
  'input right': {
    query: generation,
    variables: { input: { country: 'DE', bankCode: '37040044', accountNumber: '532013000' } },
  },
  'input with wrong fields': { query: generation, variables: { input: { country: 'DE', bankCode: 'x' } } },
  'input without a required field': { query: generation, variables: { input: {} } },
  'input with an unknown field': { query: generation, variables: { input: { country: 'DE', other: 1 } } },
  'input with very many fields': {
    query: generation,
    variables: { input: Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`f${i}`, 1])) },
  },
  'input a text': { query: generation, variables: { input: 'DE' } },
  'input null': { query: generation, variables: { input: null } },
  'input a list': { query: generation, variables: { input: [{ country: 'DE' }] } },
  'input of variables': {
    query:
      'query ($country: String!, $bank: String) { generateIban(input: { country: $country, bankCode: $bank }) { __typename } }',
    variables: { country: 'DE' },
  },
  'operation by name': { query: several, operationName: 'Two' },
  'operation null': { query: several, operationName: null },
  'operation unknown': { query: several, operationName: 'Four' },
  'operation unknown of one': { query: 'query One { __typename }', operationName: 'Two' },
  'operation empty': { query: 'query One { __typename }', operationName: '' },
  'operation not a text': { query: several, operationName: 1 },
  'operation missing': { query: 'fragment F on Query { __typename }' },
  'mutation by name': { query: several, operationName: 'Three' },
  subscription: { query: 'subscription { essays }' },
  'syntax error': { query: '{ country(code: "DE" { name } }' },
  'syntax error at the end': { query: '{ country' },
  'syntax error in a text': { query: '{ country(code: "DE) { name } }' },
  'query empty': { query: '' },
  'query missing': {},
  'query null': { query: null },
  'query a number': { query: 1 },
  'query of comments': { query: '# nothing' },
  'unknown field': { query: '{ unknown(code: "DE") { name } }' },
  'unknown argument': { query: '{ country(cod: "DE") { name } }' },
  'unknown fragment': { query: '{ ...F }' },
  'unknown type': { query: 'query ($x: Unknown) { __typename }' },
  'unknown directive': { query: '{ __typename @defer }' },
  'unused variable': { query: 'query ($x: String) { __typename }' },
  'argument of the wrong type': { query: '{ country(code: 5) { name } }' },
  'argument null': { query: '{ country(code: null) { name } }' },
  'selection missing': { query: '{ country(code: "DE") }' },
  'several validation errors': { query: '{ a b c country { d } }' },
  'too many validation errors': { query: `{ ${repeat(150, (i) => `unknown${i}`)} }` },
  'conflicting fields': { query: '{ country(code: "DE") { x: name x: code } }' },
  'alias too long': { query: `{ ${'a'.repeat(101)}: __typename }` },
  'too expensive': tooExpensive,
  'too many tokens': { query: `{ ${'__typename '.repeat(5_001)} }` },
  'too long': { query: `{ __typename } #${'x'.repeat(100_000)}` },
  'nested too deep': { query: `{ country(code: ${'['.repeat(201)}1${']'.repeat(201)}) { name } }` },
  'too many look-ups': { query: `{ ${repeat(21, (i) => `a${i}: banks(country: "DE", first: 1) { totalCount }`)} }` },
  'arguments out of range': { query: '{ banks(first: 0) { totalCount } }' },
  'partial data': {
    query: `{ country(code: "DE") { name } banks(first: 0) { totalCount } x: banks(country: "XX") { totalCount } }`,
  },
  'very many errors': { query: `{ ${repeat(120, (i) => `a${i}: banks(first: 0) { totalCount }`)} }` },
  'an item that fails': { query: `{ ibanValidations(ibans: ["${iban}", "${'9'.repeat(70)}", "x"]) { iban valid } }` },
  essay: orderOf({ description: 'Pens', mode: 'ACADEMIC', titles: ['Ink'], purpose: 'NARRATIVE' }),
  'essay without a description': orderOf({ description: '' }),
  'essay of too many words': orderOf({ description: 'Pens', wordCount: 5_000 }),
  'essay rejected by the service': orderOf({ description: 'reject this' }),
  'essay that fails': orderOf({ description: 'fail this' }),
  'essay that cannot be read': orderOf({ description: 'garble this' }),
  'essay in an unknown mode': orderOf({ description: 'Pens', mode: 'POEM' }),
  'several essays': {
    query: `mutation { ${repeat(6, (i) => `a${i}: generateEssay(input: { description: "Pens", wordCount: 1${i} }) { __typename ... on Essay { text } ... on UserError { message } }`)} }`,
  },
  'too many essay texts': {
    query: `mutation { generateEssay(input: { description: "Pens", wordCount: 20 }) { ... on Essay { ${repeat(21, (i) => `t${i}: text`)} } } }`,
  },
  introspection: { query: getIntrospectionQuery() },
  'introspection of a type': { query: '{ __type(name: "BankData") { name kind fields { name } } }' },
  'introspection of an unknown type': { query: '{ __type(name: "constructor") { name } __typename }' },
  'too many introspection aliases': {
    query: `{ ${repeat(11, (i) => `a${i}: __typename`)} __schema { ${repeat(11, (i) => `b${i}: __typename`)} } }`,
  },
  'subgraph schema': { query: '{ _service { sdl } }' },
  entities: entitiesOf(
    { __typename: 'IbanValidation', iban },
    { __typename: 'BankData', id: 'DE:37040044:COBADEFFXXX' },
    { __typename: 'IbanCountry', code: 'FR' },
    { __typename: 'IbanCountry', code: 'US' },
  ),
  'entities that fail': entitiesOf(
    { __typename: 'IbanCountry', code: 1 },
    { __typename: 'Missing' },
    null,
    'x',
    { __typename: 'constructor' },
    { __typename: 'IbanCountry', code: 'DE' },
  ),
  'no entities': entitiesOf(),
  'too many entities': entitiesOf(...Array.from({ length: 1_001 }, () => ({ __typename: 'IbanCountry', code: 'DE' }))),
  'hash of a known query': { extensions: { persistedQuery } },
  'hash with its query': { query: registered, extensions: { persistedQuery } },
  'hash with an empty query': { query: '', extensions: { persistedQuery } },
  'hash with null': { query: null, extensions: { persistedQuery } },
  'hash with another query': { query: '{ __typename }', extensions: { persistedQuery } },
  'hash unknown': { extensions: { persistedQuery: { version: 1, sha256Hash: hashOf('unknown') } } },
  'hash in another version': { extensions: { persistedQuery: { ...persistedQuery, version: 2 } } },
  'hash not a text': { extensions: { persistedQuery: { version: 1, sha256Hash: 5 } } },
  'hash in upper case': {
    extensions: { persistedQuery: { version: 1, sha256Hash: persistedQuery.sha256Hash.toUpperCase() } },
  },
  'persisted query null': { query: '{ __typename }', extensions: { persistedQuery: null } },
  'persisted query a text': { query: '{ __typename }', extensions: { persistedQuery: 'x' } },
  'extensions empty': { query: '{ __typename }', extensions: {} },
  'extensions null': { query: '{ __typename }', extensions: null },
  'extensions unknown': { query: '{ __typename }', extensions: { other: 1 } },
  'extensions a list': { query: '{ __typename }', extensions: [] },
  'unknown parameter': { query: '{ __typename }', other: 1 },
  'a batch': [{ query: '{ __typename }' }],
  'a body that is null': 'null',
  'a body that is a text': '"query"',
  'a body that is not JSON': '{ query',
  'a body with a byte order mark': '\ufeff{"query":"{ __typename }"}',
  'a body with a repeated parameter': '{"query":"{ a }","query":"{ __typename }"}',
  'a body with an inherited parameter': '{"query":"{ __typename }","__proto__":{"operationName":"x"}}',
  'a body with odd variables':
    '{"query":"query ($__proto__: String) { banks(country: $__proto__, first: 1) { totalCount } }","variables":{"__proto__":"DE"}}',
};

const ordinary = { query: '{ countries { code name isSepa ibanExample } }' };
const failing = { query: '{ countries { unknown } }' };
const responseJson = 'application/graphql-response+json';

const accepting = (body: object) => ({ body, headers: { accept: responseJson } });
const withCost = (body: object) => ({ body, headers: { 'x-cost': '1' } });

const withHeaders: Readonly<Record<string, ParityRequest>> = {
  'accepts response+json': accepting(ordinary),
  'accepts response+json, invalid': accepting(failing),
  'accepts response+json, syntax error': accepting({ query: '{' }),
  'accepts response+json, wrong variables': accepting({ query: lookUp }),
  'accepts response+json, too expensive': accepting(tooExpensive),
  'accepts response+json, unknown operation': accepting({ query: several }),
  'accepts response+json, partial data': accepting(partial),
  'accepts response+json, null data': accepting({
    query: lists.replace('$ibans: [String!]!', '$ibans: [String!] = ["x"]'),
    variables: { ibans: null },
  }),
  'accepts response+json, unknown hash': accepting({
    extensions: { persistedQuery: { version: 1, sha256Hash: hashOf('unknown') } },
  }),
  'accepts both': { body: ordinary, headers: { accept: `application/json;q=0.5, ${responseJson}` } },
  'accepts anything': { body: ordinary, headers: { accept: '*/*' } },
  'accepts text': { body: ordinary, headers: { accept: 'text/html' } },
  'accepts gzip': { body: ordinary, headers: { 'accept-encoding': 'gzip' } },
  'accepts Brotli': { body: ordinary, headers: { 'accept-encoding': 'br;q=1, gzip;q=0.5' } },
  'accepts no encoding': { body: ordinary, headers: { 'accept-encoding': 'identity;q=0' } },
  'accepts gzip, small': { body: { query: '{ __typename }' }, headers: { 'accept-encoding': 'gzip' } },
  'x-cost': withCost({ query: lookUp, variables: { iban } }),
  'x-cost, computed': { body: ordinary, headers: { 'x-cost': '' } },
  'x-cost, invalid': withCost(failing),
  'x-cost, partial data': withCost(partial),
  'x-cost, mutation': withCost(orderOf({ description: '', wordCount: 1 })),
  'requests a trace': { body: ordinary, headers: { 'apollo-federation-include-trace': 'ftv1' } },
  'allowed origin': { body: ordinary, headers: { origin: 'https://shop.example' } },
  'other origin': { body: ordinary, headers: { origin: 'https://other.example' } },
  'type with a charset': { body: ordinary, headers: { 'content-type': 'Application/JSON; charset="utf-8"' } },
  'type with another charset': { body: ordinary, headers: { 'content-type': 'application/json; charset=latin1' } },
  'graphql+json': { body: ordinary, headers: { 'content-type': 'application/graphql+json' } },
  'another type': { body: ordinary, headers: { 'content-type': 'text/plain' } },
};
