import { describe, expect, it } from 'vitest';
import { tRecordingEssayService } from '../support/e2e/recording-essay-service.ts';
import { tGateway } from '../support/gateway.ts';
import { tRedis, whyNoRedis } from '../support/redis.ts';
import { tGate } from '../support/turns.ts';

/* A watched order whose gateway stops, as in a rollout. */

type Gateway = Awaited<ReturnType<typeof tWatchedGateway>>;

async function tWatchedGateway(essaysUrl: string, redisUrl: string) {
  const gateway = tGateway({ essaysUrl, env: { REDIS_URL: redisUrl, STORE_SECRET: 'a-secret-that-all-share' } });
  return { ...gateway, url: `${await gateway.listen()}/graphql` };
}

async function start({ ask }: Gateway): Promise<string> {
  const mutation = `mutation { startEssay(input: { description: "Pens", wordCount: 100, idempotencyKey: "form-1" }) {
    ... on EssayOrder { id }
  } }`;
  return String((await ask(mutation)).data?.startEssay?.id);
}

/** Watches an order. `onState` is called with each state; the result is whether the stream was complete, and its states. */
async function watch({ url }: Gateway, id: string, onState: (state: string) => void) {
  const query = `subscription { essayOrder(id: "${id}") { state { __typename } } }`;
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query }),
  });
  const states: string[] = [];
  let text = '';
  for await (const bytes of response.body ?? []) {
    text += Buffer.from(bytes).toString();
    const seen = [...text.matchAll(/"__typename":"(\w+)"\}/g)].map(([, name = '']) => name);
    for (const state of seen.slice(states.length)) {
      states.push(state);
      onState(state);
    }
  }
  return { states, isComplete: text.endsWith('event: complete\ndata:\n\n') };
}

describe.skipIf(whyNoRedis)(`an order that is watched while its gateway stops${whyNoRedis}`, () => {
  it('ends its streams in order, completes what was sent, and is seen to its end at another gateway', async () => {
    const writing = tGate();
    const service = await tRecordingEssayService({ write: () => writing.opened });
    const redis = await tRedis();
    const stopping = await tWatchedGateway(service.url, redis.url);
    const other = await tWatchedGateway(service.url, redis.url);
    const id = await start(stopping);
    const bothSee = { stopping: tGate(), other: tGate() };
    const onState = (gate: keyof typeof bothSee) => (state: string) => {
      if (state === 'EssayWriting') bothSee[gate].open();
    };
    const watched = watch(stopping, id, onState('stopping'));
    const watchedThere = watch(other, id, onState('other'));
    await Promise.all([bothSee.stopping.opened, bothSee.other.opened]);

    const closed = stopping.close();
    const { states, isComplete } = await watched;
    expect(isComplete).toBe(true);
    expect(states.at(-1)).toBe('EssayWriting');
    writing.open();
    await closed;
    const there = await watchedThere;
    expect(there).toMatchObject({ isComplete: true });
    expect(there.states.at(-1)).toBe('EssayFinished');
    expect(await watch(other, id, () => {})).toEqual({ states: ['EssayFinished'], isComplete: true });
    expect(service.calls).toHaveLength(1);
  });
});
