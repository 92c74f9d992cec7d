import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { tRecordingEssayService } from '../support/e2e/recording-essay-service.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import {
  type GatewayProcess,
  noUpstreams,
  orderMutation,
  orderVariables,
  sharing,
  tGatewayProcess,
  tScript,
} from '../support/process.ts';
import { tRedis, whyNoRedis } from '../support/redis.ts';
import { tGate } from '../support/turns.ts';

/* For more kills: npx tsx bench/kill-orders.ts --kills 30; ORDER_KILLS=40 LONG_TESTS=1 npx vitest run test/long/kill-orders.test.ts */

const kills = Number(process.env.ORDER_KILLS ?? 4);

describe('orders end once and are sent once, and the audit trail has all calls, while gateways are killed', () => {
  it('with the embedded store', () => killOrders('lmdb'));

  it.skipIf(whyNoRedis)(`with two processes that share a Redis${whyNoRedis}`, () =>
    killOrders('redis', '--restart-redis'),
  );
});

async function killOrders(store: string, ...options: string[]): Promise<void> {
  const args = [
    '--built',
    '--store',
    store,
    '--kills',
    '3',
    '--orders',
    '6',
    '--look-ups',
    '60',
    '--essay-ms',
    '1000',
    ...options,
  ];
  const program = tScript('bench/kill-orders.ts', {}, args);
  expect(await program.ended, program.stdout() + program.stderr()).toEqual({ code: 0, signal: null });
  expect(program.stdout()).toContain('All answers were correct.');
  expect(program.stdout()).toMatch(/\| api-key:shop \| [\d-]+ \| \d+/);
}

describe('an essay that was shown is not lost, and a killed gateway is known to be dead within 2 s', () => {
  it('with the embedded store', { timeout: 60_000 + kills * 20_000 }, () =>
    killAfterEnds({ ...noUpstreams, DATA_DIR: tFolder() }),
  );

  it.skipIf(whyNoRedis)(`with Redis${whyNoRedis}`, { timeout: 60_000 + kills * 20_000 }, async () => {
    const redis = await tRedis();
    // So that a kill within 10 ms may come before a write.
    redis.setDelay(4);
    await killAfterEnds({ ...noUpstreams, ...sharing(redis) });
  });
});

const findQuery = `query ($key: ID!) {
  essayOrder(idempotencyKey: $key) {
    id
    state { __typename ... on EssayFinished { essay { text } } }
  }
}`;
const startMutation = `mutation ($input: StartEssayInput!) {
  startEssay(input: $input) { ... on EssayOrder { id } }
}`;

interface Found {
  essayOrder: { id: string; state: { __typename: string; essay?: { text: string } | null } } | null;
}

/** How a client sees the end of its order. */
const waysToSee = {
  async poll(gateway: GatewayProcess, key: string): Promise<unknown> {
    await gateway.ask(startMutation, orderVariables(key, key));
    for (;;) {
      const { essayOrder } = await gateway.ask<Found>(findQuery, { key });
      if (essayOrder?.state.__typename === 'EssayFinished') return essayOrder.state.essay;
    }
  },
  async subscribe(gateway: GatewayProcess, key: string): Promise<unknown> {
    const { startEssay } = await gateway.ask<{ startEssay: { id: string } }>(startMutation, orderVariables(key, key));
    const query = `subscription ($id: ID!) { essayOrder(id: $id) { state { __typename ... on EssayFinished { essay { text } } } } }`;
    const response = await fetch(`${gateway.origin}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query, variables: { id: startEssay.id } }),
    });
    let text = '';
    for await (const bytes of response.body ?? []) {
      text += Buffer.from(bytes).toString();
      const [, essay] = /"EssayFinished","essay":(\{"text":"(?:[^"\\]|\\.)*"\})/.exec(text) ?? [];
      if (essay !== undefined) return JSON.parse(essay);
    }
    throw new Error(`the subscription ended early: ${text}`);
  },
  async generate(gateway: GatewayProcess, key: string): Promise<unknown> {
    return { text: (await gateway.order(key, key)).text };
  },
};

/**
 * In each round, a gateway is killed at most 10 ms after a client has seen the essay of one order, while another order is being
 * written. After the restart, the essay must be there, and the other order must have failed, as it may have been paid for: it is sent
 * again only with consent. All calls are counted.
 */
async function killAfterEnds(env: Record<string, string>): Promise<void> {
  const held = tGate();
  const service = await tRecordingEssayService({
    write: ({ topic }) => (topic.startsWith('held') ? held.opened : Promise.resolve()),
  });
  const start = () => tGatewayProcess({ ...env, ESSAY_URL: service.url, ESSAY_ORDERS_RUNNING: '4' });
  const lost: string[] = [];
  const tookMs: number[] = [];
  let gateway = await start();
  const ways = Object.entries(waysToSee);
  for (let kill = 0; kill < kills; kill += 1) {
    const [way, see] = ways[kill % ways.length] as (typeof ways)[number];
    const [key, heldKey] = [`${way} ${kill}`, `held ${kill}`];
    await gateway.ask(startMutation, orderVariables(heldKey, heldKey));
    while (service.callsFor(heldKey).length === 0) await sleep(5);
    const seen = await see(gateway, key);
    await sleep((kill % 5) * 2);
    gateway.process.kill('SIGKILL');
    await gateway.process.ended;

    gateway = await start();
    const startedAt = performance.now();
    const repeated = gateway.ask<{ generateEssay: { message?: string } }>(
      orderMutation,
      orderVariables(heldKey, heldKey),
    );
    const [found, answer] = await Promise.all([gateway.ask<Found>(findQuery, { key }), repeated]);
    tookMs.push(performance.now() - startedAt);
    if (found.essayOrder?.state.__typename !== 'EssayFinished') lost.push(key);
    else expect(found.essayOrder.state.essay).toEqual(seen);
    expect(answer.generateEssay.message).toMatch(/may have been paid for/);
    expect((await gateway.ask<Found>(findQuery, { key: heldKey })).essayOrder?.state.__typename).toBe('EssayFailed');
  }
  expect(await gateway.counted('ESSAYS')).toBeGreaterThanOrEqual(2 * kills);
  held.open();
  const heldKey = `held ${kills - 1}`;
  const again = await gateway.order(heldKey, heldKey, { orderAgain: true });
  expect(await gateway.order(heldKey, heldKey)).toEqual(again);
  expect(lost).toEqual([]);
  // A machine that is busy for a moment makes the store slow, and then a sign of life lasts longer.
  expect(tookMs.sort((a, b) => a - b)[Math.floor(kills / 2)]).toBeLessThanOrEqual(2_000);
  expect(service.calls).toHaveLength(2 * kills + 1);
}
