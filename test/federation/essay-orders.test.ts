import { buildHTTPExecutor } from '@graphql-tools/executor-http';
import { type ExecutionResult, parse } from 'graphql';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRouter } from '../../examples/supergraph/router.ts';
import { routers, startApolloGatewayAccepting, tSupergraph } from '../support/federation/supergraph.ts';
import { postJson } from '../support/loopback.ts';
import { replyHeld, replyJson } from '../support/scripted-upstream.ts';

/* Orders of essays through real routers, which are started and polled with any of them, and watched where the router can. */

const start = `mutation { startEssay(input: { description: "Pens", wordCount: 100, idempotencyKey: "form-1" }) {
  ... on EssayOrder { id }
} }`;
const state = 'state { __typename ... on EssayFinished { essay { text } } }';
const replyEssay = replyJson(200, { essay: 'They last.' });
const finished = { __typename: 'EssayFinished', essay: { text: 'They last.' } };

const idOf = ({ data }: ExecutionResult) => (data as { startEssay: { id: string } }).startEssay.id;

describe.each(routers)('%s', (_, startRouter) => {
  it('passes on the start of an order, its states and the list', async () => {
    const { reply, release } = replyHeld(replyEssay);
    const { sdl, upstream } = await tSupergraph(reply);
    const router = await startRouter(sdl);
    onTestFinished(router.close);
    const called = upstream.nextCall();
    const id = idOf(await router.ask(start));
    await called;
    const poll = () => router.ask(`{ essayOrder(id: "${id}") { ${state} } }`);
    expect(await poll()).toMatchObject({ data: { essayOrder: { state: { __typename: 'EssayWriting' } } } });
    release();
    await expect.poll(poll).toMatchObject({ data: { essayOrder: { state: finished } } });
    expect(await router.ask(`{ essayOrders { nodes { id ${state} } } }`)).toMatchObject({
      data: { essayOrders: { nodes: [{ id, state: finished }] } },
    });
    expect(upstream.calls).toHaveLength(1);
  });
});

describe('a subscription', () => {
  const headers = { 'content-type': 'application/json' };
  const watch = (id: string) => `subscription { essayOrder(id: "${id}") { ${state} } }`;

  async function tHiveGateway() {
    const { reply, release } = replyHeld(replyEssay);
    const { sdl, upstream, ledgerquillUrl } = await tSupergraph(reply);
    const { fetch, dispose } = createRouter(sdl);
    onTestFinished(async () => dispose());
    onTestFinished(release);
    const called = upstream.nextCall();
    const id = idOf(await postJson('http://router/graphql', { query: start }, { fetch }));
    await called;
    return { fetch, release, id, ledgerquillUrl };
  }

  it('passes through Hive Gateway as text/event-stream', async () => {
    const { fetch, release, id } = await tHiveGateway();
    const body = JSON.stringify({ query: watch(id) });
    const accept = 'text/event-stream';
    const response = await fetch('http://router/graphql', { method: 'POST', headers: { ...headers, accept }, body });
    const events = readEvents(response, (event) => {
      if (event.includes('EssayWriting')) release();
    });
    const states = (await events).map(({ data }) => data.essayOrder.state);
    expect(states.at(0)).toEqual({ __typename: 'EssayWriting' });
    expect(states.at(-1)).toEqual(finished);
  });

  it('does not pass through Hive Gateway as multipart/mixed, which it refuses', async () => {
    const { fetch, id } = await tHiveGateway();
    const body = JSON.stringify({ query: watch(id) });
    const accept = 'multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/graphql-response+json';
    const response = await fetch('http://router/graphql', { method: 'POST', headers: { ...headers, accept }, body });
    expect(response.status).toBe(406);
  });

  it('is accepted from the transport of Hive Gateway, which sends it by GET, with the header that GET requires', async () => {
    const { release, id, ledgerquillUrl } = await tHiveGateway();
    const execute = buildHTTPExecutor({ endpoint: ledgerquillUrl, headers: { 'graphql-require-preflight': 'true' } });
    const results = await execute({ document: parse(watch(id)) });
    const states: unknown[] = [];
    for await (const { data } of results as AsyncIterable<Event>) {
      states.push(data.essayOrder.state);
      release();
    }
    expect(states.at(-1)).toEqual(finished);
  });

  it('is not supported by @apollo/gateway', async () => {
    const { sdl } = await tSupergraph();
    const router = await startApolloGatewayAccepting('*/*')(sdl);
    onTestFinished(router.close);
    await expect(router.ask(watch('any'))).rejects.toThrow('subscriptions not supported');
  });
});

interface Event {
  data: { essayOrder: { state: unknown } };
}

/** The results in a response of server-sent events. */
async function readEvents(response: Response, onText: (text: string) => void): Promise<Event[]> {
  let text = '';
  for await (const bytes of response.body ?? []) {
    const part = Buffer.from(bytes).toString();
    text += part;
    onText(part);
  }
  return [...text.matchAll(/^data: ?(.+)$/gm)].map(([, json = '']) => JSON.parse(json));
}
