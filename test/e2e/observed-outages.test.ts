import { describe, expect, it } from 'vitest';
import { tIban } from '../support/e2e/iban.ts';
import {
  essayText,
  eventsOf,
  lineOf,
  order,
  replyWell,
  succeeded,
  tObserved,
  validate,
} from '../support/e2e/observed-gateway.ts';
import {
  circuit,
  circuitChanges,
  errors,
  essays,
  lookUps,
  operations,
  path,
  remaining,
} from '../support/e2e/observed-metrics.ts';
import type { Scraped } from '../support/gateway/telemetry/scrape.ts';
import { tRedis, whyNoRedis } from '../support/redis.ts';
import { replyHeld, replyJson } from '../support/scripted-upstream.ts';

/* What metrics, log, spans and /ready say while an upstream fails, or Redis. */

it('a failing upstream is seen: stale answers, failures, few calls, and one probe that finds that it works', async () => {
  const observed = await tObserved({ BANK_DATA_FRESH_S: '40' });
  const { upstream } = observed;
  const gateway = await observed.start();
  const { send } = gateway;
  await send('first', validate(tIban(1)));
  gateway.advanceClock();
  gateway.advanceClock();
  upstream.answers(replyJson(500, {}));
  expect(await send('stale', validate(tIban(1)))).toMatchObject(succeeded);
  const stale = await gateway.scrapeUntil((scraped) => operations(scraped)[1] === 1);
  expect(lookUps(stale)).toEqual([0, 1, 1]);

  const codes: string[] = [];
  while (!codes.includes('UPSTREAM_UNAVAILABLE')) {
    codes.push(...(await send(`fails-${codes.length}`, validate(tIban(10 + codes.length)))).codes);
  }
  expect(codes[0]).toBe('UPSTREAM_FAILED');
  expect((await send('shed', validate(tIban(19)))).codes).toEqual(['UPSTREAM_UNAVAILABLE']);
  const open = await gateway.scrape();
  expect([circuit(open), circuitChanges(open)]).toEqual(['open', [1, 0, 0]]);
  expect(operations(open)).toEqual([1, codes.length, 2, 0]);
  expect(errors(open, 'UPSTREAM_FAILED')).toBe(codes.length - 1);
  expect(errors(open, 'UPSTREAM_UNAVAILABLE')).toBe(2);
  const of500 = { service: 'bank-data', http_response_status_code: '500', error_type: '500' };
  expect(open.value('http_client_request_duration_seconds_count', of500)).toBe(upstream.calls.length - 1);

  gateway.advanceClock();
  await send('probe', validate(tIban(20)));
  const probed = await gateway.scrape();
  expect([circuit(probed), circuitChanges(probed)]).toEqual(['open', [2, 1, 0]]);
  const failures = { service: 'bank-data', outcome: 'failed' };
  expect(probed.value('ledgerquill_upstream_attempts_total', failures)).toBe(upstream.calls.length - 1);

  const log = await gateway.logUntil('probe');
  const breakerOpened = 'circuit breaker opened: the upstream keeps failing or refusing calls, only probes are sent';
  const place = { level: 40, service: 'bank-data', path };
  expect(eventsOf(log)).toMatchObject([
    { ...place, msg: 'upstream call failed', status: 500 },
    { ...place, msg: breakerOpened },
    { ...place, msg: breakerOpened },
  ]);
  expect(lineOf(log, 'stale')).toMatchObject({ status: 200, cacheHits: 1, staleHits: 1 });
  expect(lineOf(log, 'fails-0')).toMatchObject({ status: 200, errors: ['UPSTREAM_FAILED'], upstreamCalls: 3 });
  expect(lineOf(log, 'shed')).toMatchObject({ status: 200, errors: ['UPSTREAM_UNAVAILABLE'], upstreamCalls: 0 });

  gateway.advanceClock();
  const { reply, release } = replyHeld(replyWell);
  upstream.answers(reply);
  const recovered = send('recovered', validate(tIban(21)));
  await gateway.scrapeUntil((scraped) => circuit(scraped) === 'half_open');
  release();
  expect(await recovered).toMatchObject(succeeded);
  const closed = await gateway.scrape();
  expect([circuit(closed), circuitChanges(closed)]).toEqual(['closed', [2, 2, 1]]);
  expect(eventsOf(await gateway.logUntil('recovered'))).toMatchObject([
    { level: 30, msg: 'circuit breaker closed: the upstream works again', service: 'bank-data', path },
  ]);
  const calls = await observed.end('stale', 'fails-0', 'shed', 'probe', 'recovered');
  expect(calls).toEqual([[500, 500, 500], [500, 500, 500], [], [500], [200]]);
});

describe.skipIf(whyNoRedis)(`two gateways with a Redis${whyNoRedis}`, () => {
  async function tObservedPair() {
    const redis = await tRedis({ isDurable: true });
    const env = {
      REDIS_URL: redis.url,
      REPLICAS: '2',
      BANK_DATA_MONTHLY_ALLOWANCE: '4',
      ESSAY_MONTHLY_ALLOWANCE: '10',
    };
    return { redis, observed: await tObserved(env) };
  }

  it('show that it stops: look-ups are cached, orders with a key rejected, other essays buffered; and returns', async () => {
    const { redis, observed } = await tObservedPair();
    const gateway = await observed.start();
    const { send } = gateway;
    await send('cached', validate(tIban(21)));
    expect(eventsOf(await gateway.logUntil('cached'))).toMatchObject([{ level: 30, msg: 'the store is up' }]);
    expect((await gateway.scrape()).value('ledgerquill_store_up')).toBe(1);
    expect(await gateway.readiness()).toEqual([200, { status: 'ready', sharedStore: 'up' }]);
    await redis.stop();
    await gateway.scrapeUntil(({ value }) => value('ledgerquill_store_up') === 0);
    expect(await gateway.readiness()).toEqual([
      200,
      { status: 'ready', sharedStore: 'down', storeFailure: 'unreachable' },
    ]);
    // Reads the allowances of both services, which fails.
    await gateway.scrape();
    expect(await send('down-cached', validate(tIban(21)))).toMatchObject(succeeded);
    expect(await send('down-new', validate(tIban(22)))).toMatchObject(succeeded);
    const { data: rejected } = await send('down-rejected', order('form-2'));
    expect(rejected).toEqual({ generateEssay: { __typename: 'EssayServiceFailed', code: 'UPSTREAM_UNAVAILABLE' } });
    const { data: buffered } = await send('down-buffered', order());
    expect(buffered).toMatchObject({ generateEssay: { __typename: 'Essay', text: essayText } });
    expect(essays(await gateway.scrape())).toEqual([1, 0, 1]);

    const log = await gateway.logUntil('down-buffered');
    expect(lineOf(log, 'down-cached')).toMatchObject({ status: 200, cacheHits: 1, upstreamCalls: 0 });
    expect(lineOf(log, 'down-rejected')).toMatchObject({ status: 200, upstreamCalls: 0 });
    const inMemory = '50 the store failed: calls are counted in memory until it works again';
    const events = eventsOf(log).map(({ level, msg, service = '' }) => `${level} ${msg} ${service}`.trim());
    expect(gateway.logText()).not.toContain(new URL(redis.url).host);
    expect(events.toSorted()).toEqual([
      '50 the store failed: an essay order with an idempotency key was rejected, as it might be paid for twice',
      `${inMemory} bank-data`,
      `${inMemory} essays`,
      '50 the store failed: essays are buffered in memory until it works again',
      '50 the store is down: the gateway continues without it',
    ]);

    await redis.restart();
    const isBack = (scraped: Scraped) =>
      scraped.value('ledgerquill_store_up') === 1 && remaining(scraped).join() === '2,9';
    await gateway.scrapeUntil(isBack);
    expect(await gateway.readiness()).toEqual([200, { status: 'ready', sharedStore: 'up' }]);
    await send('up-again', validate(tIban(21)));
    expect(eventsOf(await gateway.logUntil('up-again'))).toMatchObject([{ level: 30, msg: 'the store is up' }]);

    // Another gateway finds the essay that was buffered, and the answers that the first received.
    const second = await observed.start();
    expect(await second.send('shared', validate(tIban(21)))).toMatchObject(succeeded);
    const { id } = (buffered as { generateEssay: { id: string } }).generateEssay;
    const query = { query: 'query Find($id: ID!) { essay(id: $id) { text } }', variables: { id } };
    expect((await second.send('find', query)).data).toEqual({ essay: { text: essayText } });
    const calls = await observed.end('down-cached', 'down-new', 'down-rejected', 'down-buffered', 'shared');
    expect(calls).toEqual([[], [200], [], [200], []]);
  });

  it('show a rollout: the first stops while an order is active, and the second has all that it knew', async () => {
    const { observed } = await tObservedPair();
    const { upstream } = observed;
    const gateway = await observed.start();
    await gateway.send('all', validate(tIban(21), tIban(22), tIban(23), tIban(24)));
    const second = await observed.start();
    const { reply, release } = replyHeld(replyWell);
    upstream.answers(reply);
    const ordered = upstream.nextCall();
    const active = gateway.send('active', order('form-3'));
    await ordered;

    // A load balancer asks /ready before each request.
    const isReady = () => gateway.readiness().then(([status]) => status === 200);
    const balance = async (id: string) =>
      ((await isReady().catch(() => false)) ? gateway : second).send(id, validate(tIban(21)));
    gateway.announceStop();
    expect(await gateway.readiness()).toEqual([503, { status: 'stopping', sharedStore: 'up' }]);
    expect(await gateway.send('late', validate(tIban(21)))).toMatchObject(succeeded);
    expect(await balance('moved')).toMatchObject(succeeded);
    const stopping = await gateway.scrape();
    expect(stopping.value('http_server_active_requests')).toBe(1);
    expect(stopping.value('ledgerquill_paid_calls_total', { service: 'bank-data' })).toBe(4);

    await gateway.endDelay();
    expect(await balance('moved-again')).toMatchObject(succeeded);
    release();
    const { data } = await active;
    expect(data).toMatchObject({ generateEssay: { __typename: 'Essay', text: essayText } });
    await gateway.stop();
    const log = gateway.log();
    expect(lineOf(log, 'late')).toMatchObject({ status: 200 });
    expect(log.at(-1)).toMatchObject({ msg: 'request', requestId: 'active', status: 200, upstreamCalls: 1 });

    expect((await second.send('same-key', order('form-3'))).data).toEqual(data);
    const { codes } = await second.send('exhausted-too', validate(tIban(30)));
    expect(codes).toEqual(['UPSTREAM_ALLOWANCE_EXHAUSTED']);
    const scraped = await second.scrape();
    expect(essays(scraped)).toEqual([0, 1, 0]);
    expect(remaining(scraped)).toEqual([0, 9]);
    expect(await observed.end('active', 'same-key')).toEqual([[200], []]);
  });
});
