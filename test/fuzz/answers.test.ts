import { createHash } from 'node:crypto';
import { GraphQLError, getOperationAST, graphql, validate } from 'graphql';
import { beforeEach, expect, it, vi } from 'vitest';
import { GatewayError, internalErrorMessage } from '../../src/base/errors.ts';
import { createRedact } from '../../src/base/redact.ts';
import type { BankDataPort } from '../../src/gateway/bank-data/bank-data.ts';
import { createGraphqlHandler } from '../../src/gateway/graphql/request/graphql-handler.ts';
import { createContext } from '../../src/gateway/graphql/schema/context.ts';
import { schema } from '../../src/gateway/graphql/schema/schema.ts';
import { tCaller } from '../support/gateway/callers.ts';
import { tContext } from '../support/gateway/graphql/documents.ts';
import { tFetch } from '../support/gateway/graphql/graphql-server.ts';
import {
  createRandomRequests,
  parseOrNull,
  type RandomRequest,
  withLiterals,
} from '../support/gateway/graphql/random-documents.ts';
import { texts, tServices } from '../support/gateway/graphql/scripted-services.ts';
import { tGraphqlServer } from '../support/gateway/http/request-handler.ts';
import type { Answer } from '../support/gateway.ts';
import { createRandom } from '../support/random.ts';
import { turns } from '../support/turns.ts';

/** Counts what random cases reach, so that a generator that no longer reaches it fails its test. */
function tCoverage() {
  const counts = new Map<string, number>();
  return {
    count: (name: string) => void counts.set(name, (counts.get(name) ?? 0) + 1),
    /** @param leastPercent of the cases, by name */
    check(cases: number, leastPercent: Readonly<Record<string, number>>): void {
      const isSeldom = (name: string, percent: number) => (counts.get(name) ?? 0) < Math.floor((cases * percent) / 100);
      const seldom = Object.entries(leastPercent).filter(([name, percent]) => isSeldom(name, percent));
      expect(seldom, `in ${cases} cases: ${JSON.stringify(Object.fromEntries(counts))}`).toEqual([]);
    },
  };
}

/*
 * Random requests have the answer of GraphQL.js, in whichever way they are sent. More of them, or others:
 *   FUZZ_DOCUMENTS=6000 FUZZ_SEED=7 npx vitest run test/fuzz/answers.test.ts
 */

const documents = Number(process.env.FUZZ_DOCUMENTS ?? 50);
const seed = Number(process.env.FUZZ_SEED ?? 1);

beforeEach(() => {
  // Compiling takes no time, so each operation is compiled when it is sent again.
  vi.useFakeTimers({ toFake: ['performance'] });
});

it(`has the answer of GraphQL.js in each way a request is sent: ${documents} documents (seed ${seed})`, {
  timeout: 300_000 + documents * 200,
}, async () => {
  const coverage = tCoverage();
  const gateway = await tGatewayOfServices(coverage.count);
  const next = createRandomRequests(schema, createRandom(seed), texts);
  for (let number = 0; number < documents; number += 1) {
    const request = next();
    const inlined = withLiterals(schema, request);
    await compare(gateway.ways, request);
    if (inlined) await compare({ 'POST with literals': gateway.ways.POST }, inlined);

    async function compare(ways: Readonly<Record<string, Send>>, request: RandomRequest): Promise<void> {
      const fromGraphqlJs = await askGraphqlJs(request);
      for (const name of findFeatures(request, fromGraphqlJs)) coverage.count(name);
      for (const [way, send] of Object.entries(ways)) {
        const answer = await send(request);
        if (tooExpensive.test(answer.errors.join())) coverage.count('too expensive');
        const expected = withDifferences(fromGraphqlJs, answer, { way, request });
        expect(answer, `${way}, document ${number}: ${JSON.stringify(request)}`).toEqual(expected);
      }
    }
  }
  // Requests that share an answer do not change it.
  expect(gateway.answers.filter(({ answer, text }) => JSON.stringify(answer) !== text)).toEqual([]);
  coverage.check(documents, leastPercent);
});

/** What must be reached, in percent of the documents. */
const leastPercent = {
  data: 40,
  'data with errors': 8,
  'validation error': 10,
  'syntax error': 2,
  'variable error': 1,
  'unknown operation': 5,
  UPSTREAM_FAILED: 1,
  INTERNAL_SERVER_ERROR: 1,
  BAD_USER_INPUT: 1,
  'a mutation': 2,
  introspection: 1,
  'a condition with a variable': 5,
  fragments: 25,
  aliases: 25,
  'default values': 4,
  'input objects': 4,
  unions: 4,
  compiled: 8,
  kept: 2,
};

/** How GraphQL.js answers a request, and what the request has if it is executed. */
function findFeatures({ query }: RandomRequest, { kind, data, errors }: ExpectedAnswer): string[] {
  if (data === undefined) return [kind];
  const codes = new Set(errors.map((error): string => JSON.parse(error).code));
  const patterns = {
    'a mutation': /^mutation/,
    introspection: /__(schema|type)\b/,
    'a condition with a variable': /@(skip|include)\(if: \$/,
    fragments: /\.{3}/,
    aliases: /\w: \w+ [@{]/,
    'default values': /^[^{]*\$\w+: \S+ = /,
    'input objects': /\(input: /,
    unions: /\.{3} on (InvalidIbanFields|InvalidEssayInput|Essay)\b/,
  };
  const found = Object.entries(patterns).flatMap(([name, pattern]) => (pattern.test(query) ? [name] : []));
  return [kind, ...codes, ...found];
}

/** What depends on the way, and what the gateway refuses that GraphQL.js does not. */
function withDifferences(
  { kind, ...expected }: ExpectedAnswer,
  answer: ReceivedAnswer,
  { way, request }: { way: string; request: RandomRequest },
): ReceivedAnswer {
  const document = parseOrNull(request.query);
  const isMutation = document && getOperationAST(document, request.operationName)?.operation === 'mutation';
  if (way === 'GET' && isMutation) return refusedMutation;
  // A client that accepts application/graphql-response+json learns of a refused request, and of errors, by its status.
  const isGraphql = responseJsonWays.has(way);
  const refusedStatus = isGraphql ? 400 : 200;
  const status = isGraphql ? graphqlStatuses[kind] : expected.status;
  // Values that are much larger than their type are found before GraphQL.js repeats them in its errors.
  const isLarge = kind === 'variable error' && largeValue.test(answer.errors.join());
  // The cost is computed before variables are coerced.
  const isExpensive = !unexecuted.has(kind) && tooExpensive.test(answer.errors.join());
  if (isLarge || isExpensive) return { data: undefined, status: refusedStatus, errors: answer.errors.slice(0, 1) };
  // Validation has further rules. Their errors are beside those of GraphQL.js, and nothing is executed.
  const limits = answer.errors.filter((error) => limit.test(error));
  if (limits.length === 0 || unvalidated.has(kind)) return { ...expected, status };
  const others = kind === 'validation error' ? expected.errors : [];
  return { data: undefined, status: refusedStatus, errors: [...others, ...limits].sort() };
}

const graphqlStatuses: Readonly<Record<ExpectedAnswer['kind'], number>> = {
  data: 200,
  'data with errors': 294,
  'syntax error': 400,
  'unknown operation': 422,
  'validation error': 400,
  'variable error': 400,
};

const unvalidated = new Set<ExpectedAnswer['kind']>(['syntax error', 'unknown operation']);
const unexecuted = new Set<ExpectedAnswer['kind']>([...unvalidated, 'validation error']);

const refusedMutation: ReceivedAnswer = {
  status: 405,
  data: undefined,
  errors: [
    describeError({
      message: 'Can only perform a mutation operation from a POST request.',
      code: 'BAD_REQUEST',
      path: null,
      locations: null,
    }),
  ],
};

const largeValue = /^{"message":"Variable \\"\$\w+\\" has (an object or a list|a list|\d+ fields)/;
const tooExpensive = /^{"message":"The query costs \d+; it may cost at most 20000 /;
const limit = /^{"message":"(Introspection|__typename) may have at most/;

type Send = (request: RandomRequest) => Promise<ReceivedAnswer>;

/** A gateway with scripted services that listens, and the ways to send a request. */
async function tGatewayOfServices(count: (name: string) => void) {
  const { services, answers } = tRecordedServices();
  let executed = 0;
  const handler = createGraphqlHandler({
    schema,
    createContext(caller, signal, trace, isSliced) {
      executed += 1;
      return createContext(services, caller, signal, trace, isSliced);
    },
    hasCallers: false,
    trustedDocuments: null,
    maxQueryCost: 20_000,
    keptReplyBytes: 1_000_000,
    maxReplyBytes: 8_000_000,
    inTimeSlice: services.slices,
    extensions: [],
    redact: createRedact([]),
    events: { unexpectedError: () => {}, untrustedDocument: () => {} },
  });
  const readByYoga = tFetch(handler.answerWithYoga, tCaller);
  const url = `${await tGraphqlServer(handler)}/graphql`;
  const ways = {
    POST: postWithSpaces(0),
    'POST of a cached document': postWithSpaces(1),
    'POST after which it is compiled': countCompiled(postWithSpaces(2)),
    'POST of a compiled document': postWithSpaces(3),
    'POST with a kept reply': countKept(postWithSpaces(3)),
    GET: (request: RandomRequest) => read(fetch(`${url}?${toSearch(request)}`, { headers })),
    'POST with a query and its hash': (request: RandomRequest) =>
      post({ ...request, extensions: { persistedQuery: hashOf(request.query) } }),
    'POST with a hash': ({ query, ...request }: RandomRequest) =>
      post({ ...request, extensions: { persistedQuery: hashOf(query) } }),
    'POST that Yoga reads': (request: RandomRequest) =>
      read(readByYoga('http://gateway/graphql', { method: 'POST', headers, body: JSON.stringify(request) })),
  } satisfies Record<string, Send>;
  return { ways, answers };

  /** Replies are kept by the text of the body, so they are not used if it ends with other spaces. */
  function postWithSpaces(spaces: number): Send {
    return (request) => post(request, ' '.repeat(spaces));
  }

  function post(params: object, end = ''): Promise<ReceivedAnswer> {
    const headers = { 'content-type': 'application/json' };
    return read(fetch(url, { method: 'POST', headers, body: JSON.stringify(params) + end }));
  }

  function countCompiled(send: Send): Send {
    return async (request) => {
      const { bytes } = handler.caches().documents;
      const answer = await send(request);
      await turns(3);
      if (handler.caches().documents.bytes > bytes) count('compiled');
      return answer;
    };
  }

  function countKept(send: Send): Send {
    return async (request) => {
      const before = executed;
      const answer = await send(request);
      if (executed === before && answer.data !== undefined) count('kept');
      return answer;
    };
  }
}

/** Their answers, with their JSON when they were received. */
function tRecordedServices() {
  const answers: { answer: unknown; text: string }[] = [];
  const services = tServices();
  const record = async (promise: Promise<unknown>) => {
    const answer = await promise;
    answers.push({ answer, text: JSON.stringify(answer) });
    return answer;
  };
  const recorded = Object.entries(services.bankData).map(([name, request]) => [
    name,
    (...args: unknown[]) => {
      const answer: Promise<unknown> | Promise<unknown>[] = Reflect.apply(request, services.bankData, args);
      return Array.isArray(answer) ? answer.map(record) : record(answer);
    },
  ]);
  const bankData: BankDataPort = Object.fromEntries(recorded);
  return { services: { ...services, bankData }, answers };
}

const accept = 'application/graphql-response+json';
const responseJsonWays = new Set(['GET', 'POST that Yoga reads']);
const headers = { accept, 'graphql-require-preflight': 'true' };

function toSearch({ query, variables, operationName }: RandomRequest): string {
  const named = operationName === undefined ? {} : { operationName };
  return String(new URLSearchParams({ query, variables: JSON.stringify(variables), ...named }));
}

function hashOf(query: string) {
  return { version: 1, sha256Hash: createHash('sha256').update(query).digest('hex') };
}

async function read(received: Promise<Response>): Promise<ReceivedAnswer> {
  const response = await received;
  const { data, errors = [] } = (await response.json()) as Answer;
  const shown = errors.map(({ message, path = null, locations = null, extensions: { code } }) =>
    describeError({ message, code, path, locations }),
  );
  return { status: response.status, data: data === undefined ? undefined : JSON.stringify(data), errors: shown.sort() };
}

/** What a client receives, without request ids. Errors are sorted: their order is that in which look-ups fail. */
interface ReceivedAnswer {
  status: number;
  data: string | undefined;
  errors: readonly string[];
}

interface ExpectedAnswer extends ReceivedAnswer {
  kind: 'syntax error' | 'unknown operation' | 'validation error' | 'variable error' | 'data' | 'data with errors';
}

interface ShownError {
  message: string;
  code: unknown;
  path: readonly (string | number)[] | null;
  locations: readonly object[] | null;
}

function describeError({ message, code, path, locations }: ShownError): string {
  return JSON.stringify({ message, code, path, locations });
}

/** The answer of GraphQL.js, as a POST that accepts application/json should receive it. */
async function askGraphqlJs({ query, variables, operationName }: RandomRequest): Promise<ExpectedAnswer> {
  const options = { schema, source: query, variableValues: variables, operationName, contextValue: tContext() };
  const { data, errors = [] } = await graphql(options);
  const document = parseOrNull(query);
  const refuse = (kind: ExpectedAnswer['kind'], code: string): ExpectedAnswer => {
    return { kind, status: 200, data: undefined, errors: errors.map((error) => describeRefusal(error, code)).sort() };
  };
  if (document === null) return refuse('syntax error', 'GRAPHQL_PARSE_FAILED');
  const operation = getOperationAST(document, operationName);
  if (!operation) return unknownOperation;
  if (validate(schema, document).length > 0) return refuse('validation error', 'GRAPHQL_VALIDATION_FAILED');
  // GraphQL.js has data here, although it has executed nothing.
  if (operation.operation === 'subscription') return refuse('unknown operation', 'BAD_USER_INPUT');
  if (data === undefined) return refuse('variable error', 'BAD_USER_INPUT');
  const kind = errors.length > 0 ? 'data with errors' : 'data';
  return { kind, status: 200, data: JSON.stringify(data), errors: errors.map(describeFailed).sort() };
}

/** Yoga words it in another way, and reports it before errors of validation. */
const unknownOperation: ExpectedAnswer = {
  kind: 'unknown operation',
  status: 400,
  data: undefined,
  errors: [
    describeError({
      message: 'Could not determine what operation to execute.',
      code: 'OPERATION_RESOLUTION_FAILURE',
      path: null,
      locations: null,
    }),
  ],
};

function describeRefusal({ message, locations }: GraphQLError, code: string): string {
  return describeError({ message: shorten(message), code, path: null, locations: locations?.slice(0, 10) ?? null });
}

/** Failures of services have their own codes, and faults of the gateway have a message without details. */
function describeFailed({ message, path, locations, originalError }: GraphQLError): string {
  const place = { path: path ?? null, locations: locations?.slice(0, 10) ?? null };
  if (originalError instanceof GatewayError)
    return describeError({ message: originalError.message, code: originalError.code, ...place });
  const isAboutArgument = originalError instanceof GraphQLError && originalError.nodes !== undefined;
  if (originalError && !isAboutArgument)
    return describeError({ message: internalErrorMessage, code: 'INTERNAL_SERVER_ERROR', ...place });
  return describeError({ message: shorten(message), code: 'BAD_USER_INPUT', ...place });
}

/** Messages contain no IBAN, and at most 1,000 characters. */
function shorten(message: string): string {
  return redact(message).slice(0, 1_000);
}

const redact = createRedact([]);
