import type { ExecutionResult } from 'graphql';
import { expect, it } from 'vitest';
import { AbortableSignal } from '../../../src/base/async/signal.ts';
import { createTimeSlices } from '../../../src/base/async/time-slices.ts';
import type { EssayOrder } from '../../../src/gateway/essays/port.ts';
import { createReplies } from '../../../src/gateway/graphql/request/reply.ts';
import { chooseStreamFormat } from '../../../src/gateway/graphql/request/stream-formats.ts';
import { createContext, type Services } from '../../../src/gateway/graphql/schema/context.ts';
import { tCaller } from '../../support/gateway/callers.ts';
import { tDocuments } from '../../support/gateway/graphql/documents.ts';
import { tServices } from '../../support/gateway/graphql/scripted-services.ts';

const text = 'subscription ($id: ID!) { essayOrder(id: $id) { id state { __typename } } }';
const ordered: EssayOrder = {
  id: 'known',
  createdAt: new Date(0),
  input: { description: 'Pens', mode: 'STANDARD', wordCount: 10, purpose: null, titles: [] },
  state: { kind: 'queued', position: 1 },
  isCancellable: true,
  bytes: 1_000,
};

/** Subscribers of one order; `contexts` has one for each subscription and for each event that was executed. */
function tSubscribers(watched: EssayOrder) {
  const services: Services = tServices();
  services.essays.watch = async () =>
    (async function* () {
      yield watched;
    })();
  const operation = tDocuments().prepare(text).operation(null);
  const contexts: string[] = [];

  async function subscribe(variables: object = { id: 'known' }, caller = tCaller): Promise<ExecutionResult> {
    const results = await operation.subscribe(
      () => {
        contexts.push(caller.id);
        return createContext(services, caller, new AbortableSignal());
      },
      variables as Record<string, unknown>,
    );
    if (!(Symbol.asyncIterator in results)) return results;
    for await (const result of results) return result;
    throw new Error('there was no event');
  }

  return { subscribe, contexts };
}

it('executes an event once for all subscriptions of a caller with the same document and variables', async () => {
  const { subscribe, contexts } = tSubscribers(ordered);
  const results = await Promise.all([subscribe(), subscribe(), subscribe()]);
  expect(results[0]).toEqual({ data: { essayOrder: { id: 'known', state: { __typename: 'EssayQueued' } } } });
  expect(new Set(results).size).toBe(1);
  expect(contexts).toHaveLength(3 + 1);
  await subscribe({ id: 'other' });
  expect(contexts).toHaveLength(4 + 2);
});

it('executes it for each caller, and for each set of scopes', async () => {
  const { subscribe, contexts } = tSubscribers(ordered);
  const callers = [tCaller, { ...tCaller, id: 'bob' }, { ...tCaller, scopes: new Set(['essays'] as const) }];
  const results = await Promise.all(callers.map((caller) => subscribe({ id: 'known' }, caller)));
  expect(new Set(results).size).toBe(3);
  expect(contexts).toHaveLength(6);
});

it('subscribes each caller whose document has the value in its text', async () => {
  const { prepare } = tDocuments();
  for (const caller of ['alice', 'bob', 'carol', 'dave']) {
    const { errors, operation } = prepare(`subscription { essayOrder(id: "of ${caller}") { id } }`);
    expect(errors).toEqual([]);
    const watched: string[] = [];
    const services: Services = tServices();
    services.essays.watch = async (id) => {
      watched.push(id);
      return (async function* () {
        yield { ...ordered, id };
      })();
    };
    const context = () => createContext(services, { ...tCaller, id: caller }, new AbortableSignal());
    const results = await operation(null).subscribe(context, {});
    if (!(Symbol.asyncIterator in results)) throw new Error(`${caller} has no events: ${results.errors?.join()}`);
    const received: ExecutionResult[] = [];
    for await (const result of results) received.push(result);
    expect({ received, watched }).toEqual({
      received: [{ data: { essayOrder: { id: `of ${caller}` } } }],
      watched: [`of ${caller}`],
    });
  }
});

it('refuses a caller without the scope, and a text that is too long, before it watches', async () => {
  const { subscribe } = tSubscribers(ordered);
  const refused = await subscribe({ id: 'known' }, { ...tCaller, scopes: new Set(['bank-data'] as const) });
  expect(refused.errors?.[0]).toMatchObject({
    message: 'This needs the scope essays, which the caller does not have.',
  });
  expect((await subscribe({ id: 'x'.repeat(10_001) })).errors).toHaveLength(1);
});

it('gives each subscriber its own request id in an error, and all the same text otherwise', async () => {
  const shown: string[] = [];
  const replies = createReplies({
    hasCallers: false,
    extensions: [],
    maxReplyBytes: 8_000_000,
    inTimeSlice: createTimeSlices(4),
    redact: (message) => message,
    events: { unexpectedError: (error) => shown.push(String(error)) },
  });
  const failing = await tSubscribers({ ...ordered, state: { kind: 'finished', essayId: 'failing' } }).subscribe();
  expect(failing.errors).toBeUndefined();
  const { GraphQLError } = await import('graphql');
  const failed: ExecutionResult = { data: { essayOrder: null }, errors: [new GraphQLError('It failed.')] };
  const succeeded: ExecutionResult = { data: { essayOrder: { id: 'known' } } };
  const texts = await Promise.all(['first', 'second'].map((requestId) => read(requestId)));
  expect(texts[0]?.[0]).toBe(texts[1]?.[0]);
  expect(texts.map(([, error]) => error?.match(/"requestId":"(\w+)"/)?.[1])).toEqual(['first', 'second']);

  async function read(requestId: string): Promise<string[]> {
    const format = chooseStreamFormat('text/event-stream');
    const operation = tDocuments().prepare(text).operation(null);
    const { requestContext } = createContext(tServices(), tCaller, new AbortableSignal());
    const executed = { operation, requestContext, documentId: null, isTrusted: false };
    const results = (async function* () {
      yield* [succeeded, failed];
    })();
    if (format === null) throw new Error('there is no such format');
    const request = { headers: {}, mediaType: 'application/json', requestId } as const;
    const { stream } = replies.createStream(format, results, request, tCaller, executed);
    const texts: string[] = [];
    if (stream) for await (const text of stream.results) texts.push(text);
    return texts;
  }
});
