import { describe, expect, it } from 'vitest';
import { type State, stateFields, watchWithAll } from '../support/gateway/http/listening-gateway.ts';
import { tGateway } from '../support/gateway.ts';
import { postJson } from '../support/loopback.ts';
import { tHaproxy, whyNoHaproxy } from '../support/process.ts';
import { replyHeld, replyJson, tUpstream } from '../support/scripted-upstream.ts';

/*
 * An order that takes longer than a proxy waits for a response: 30 s in production, with a heartbeat each 15 s. Here, both are
 * shorter, and the essay service answers only when the proxy has cut other requests, however long that takes.
 */

const limitMs = 2_000;
/** Much shorter, because the machine may be busy. */
const heartbeatMs = 100;
const essay = 'On Pens\n\nThey last.';

async function tCutOff(options: { heartbeatMs?: number } = {}) {
  const { reply, release } = replyHeld(replyJson(200, { essay }));
  const upstream = await tUpstream(reply);
  const gateway = tGateway({ essaysUrl: upstream.url, ...options });
  const { port } = new URL(await gateway.listen());
  const url = `${await tHaproxy([port], { serverTimeout: `${limitMs}ms` })}/graphql`;
  const input = { description: 'Pens', wordCount: 100 };
  const { data } = await postJson<{ data: { startEssay: { id: string } } }>(url, {
    query: 'mutation ($input: StartEssayInput!) { startEssay(input: $input) { ... on EssayOrder { id } } }',
    variables: { input: { ...input, idempotencyKey: 'form-1' } },
  });
  const { id } = data.startEssay;
  return {
    url,
    id,
    upstream,
    release,
    /** The status of a mutation that waits for its essay. */
    async generate(): Promise<number> {
      const query = 'mutation ($input: GenerateEssayInput!) { generateEssay(input: $input) { __typename } }';
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ query, variables: { input: { ...input, idempotencyKey: 'form-2' } } });
      return (await fetch(url, { method: 'POST', headers, body })).status;
    },
    /** The state of the order, and its essay once it is finished. */
    async poll(): Promise<State> {
      const query = `query ($id: ID!) { essayOrder(id: $id) { ${stateFields} } }`;
      const answer = await postJson<{ data: { essayOrder: { state: State } } }>(url, { query, variables: { id } });
      return answer.data.essayOrder.state;
    },
  };
}

const finished = { __typename: 'EssayFinished', essay: { text: essay } };

/** Each state once. */
const withoutRepeats = (states: readonly State[]) =>
  states.map(({ __typename }) => __typename).filter((name, index, names) => name !== names[index - 1]);

describe.skipIf(whyNoHaproxy)(`an order that takes longer than the limit of a proxy${whyNoHaproxy}`, () => {
  it('is watched to its end with heartbeats, and polled to its end, while generateEssay is cut', async () => {
    const { url, id, upstream, release, generate, poll } = await tCutOff({ heartbeatMs });
    const watches = watchWithAll({ url, id });
    // Each of them takes as long as the limit.
    expect(await generate()).toBe(504);
    expect(await generate()).toBe(504);
    expect(await poll()).toMatchObject({ __typename: 'EssayWriting' });
    release();
    for (const { states, errors, ended } of watches) {
      await ended;
      expect(errors).toEqual([]);
      expect(states.at(-1)).toMatchObject(finished);
      expect(withoutRepeats(states).slice(-2)).toEqual(['EssayWriting', 'EssayFinished']);
    }
    await expect.poll(poll).toMatchObject(finished);
    // The order that was cut twice was paid for, too.
    expect(upstream.calls).toHaveLength(2);
  });

  it('is watched again where the proxy cuts the stream, because there are no heartbeats', async () => {
    const { url, id, upstream, release } = await tCutOff();
    for (const { states, errors, ended } of watchWithAll({ url, id })) {
      await ended;
      expect(errors).toContain('network');
      expect(states.at(-1)).toMatchObject({ __typename: 'EssayWriting' });
    }
    const watches = watchWithAll({ url, id });
    release();
    for (const { states, errors, ended } of watches) {
      await ended;
      expect(errors).toEqual([]);
      expect(states.at(-1)).toMatchObject(finished);
    }
    expect(upstream.calls).toHaveLength(1);
  });
});
