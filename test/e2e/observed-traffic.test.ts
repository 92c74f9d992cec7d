import { describe, expect, it } from 'vitest';
import { tIban } from '../support/e2e/iban.ts';
import { eventsOf, lineOf, order, replyWell, succeeded, tObserved, validate } from '../support/e2e/observed-gateway.ts';
import { circuit, errors, essays, lookUps, operations, paidCalls, remaining } from '../support/e2e/observed-metrics.ts';
import { replyHeld } from '../support/scripted-upstream.ts';

/* What metrics, log and spans say of requests while all works, as docs/metrics.md and docs/log-and-traces.md describe it. */

describe('requests are seen in metrics, log and spans, without secrets and IBANs', () => {
  it('whether they are answered by a call, by the cache, by a call of another request, or refused', async () => {
    const observed = await tObserved({ BANK_DATA_MONTHLY_ALLOWANCE: '40', ESSAY_MONTHLY_ALLOWANCE: '10' });
    const { upstream } = observed;
    const gateway = await observed.start();
    const { send } = gateway;
    expect(await send('call', validate(tIban(1)))).toMatchObject(succeeded);
    expect(await send('hit', validate(tIban(1)))).toMatchObject(succeeded);
    const { reply, release } = replyHeld(replyWell);
    upstream.answers(reply);
    const called = upstream.nextCall();
    const first = send('first', validate(tIban(2)));
    await called;
    const joined = send('joined', validate(tIban(2)));
    await gateway.scrapeUntil(({ value }) => value('ledgerquill_joined_flights_total') === 1);
    release();
    await Promise.all([first, joined]);
    upstream.answers(replyWell);
    const invalid = await send('invalid', validate(tIban(1).replace('DE', 'FR')));
    expect(invalid.data).toEqual({ ibanValidations: [{ valid: false }] });
    const refused = await send('refused', validate(tIban(1)), {});
    expect(refused).toEqual({ status: 401, data: null, codes: ['UNAUTHENTICATED'] });
    // A client that writes an IBAN where it does not belong.
    await send(tIban(1), { query: `query ${tIban(1)} { __typename }` });
    await send('essay', order('form-1'));
    await send('same-essay', order('form-1'));

    const scraped = await gateway.scrape();
    expect(lookUps(scraped)).toEqual([1, 0, 3]);
    expect(operations(scraped)).toEqual([2, 0, 0, 0]);
    expect(essays(scraped)).toEqual([1, 1, 0]);
    expect(paidCalls(scraped)).toBe(2);
    const saved = ['cache', 'flight', 'idempotency_key', 'kept_reply'];
    expect(saved.map((by) => scraped.value('ledgerquill_saved_calls_total', { by }))).toEqual([1, 1, 1, 0]);
    expect(scraped.value('ledgerquill_refusals_total', { limit: 'unauthenticated' })).toBe(1);
    expect(errors(scraped, 'UNAUTHENTICATED')).toBe(1);
    expect(remaining(scraped)).toEqual([38, 9]);
    expect(circuit(scraped)).toBe('closed');
    const ok = { http_route: '/graphql', http_response_status_code: '200' };
    expect(scraped.value('http_server_request_duration_seconds_count', ok)).toBe(8);

    const log = await gateway.logUntil('same-essay');
    expect(eventsOf(log)).toEqual([]);
    const caller = { caller: 'api-key:shop', clientName: 'web' };
    const check = { status: 200, operationType: 'query', operationName: 'Check', ...caller };
    expect(lineOf(log, 'call')).toMatchObject({ ...check, lookUps: 1, cacheHits: 0, upstreamCalls: 1 });
    expect(lineOf(log, 'hit')).toMatchObject({ ...check, lookUps: 1, cacheHits: 1, upstreamCalls: 0 });
    expect(lineOf(log, 'first')).toMatchObject({ ...check, lookUps: 1, cacheHits: 0 });
    expect(lineOf(log, 'joined')).toMatchObject({ ...check, lookUps: 1, cacheHits: 0 });
    expect(lineOf(log, 'invalid')).toMatchObject({ ...check, lookUps: 0, upstreamCalls: 0 });
    expect(lineOf(log, 'refused')).toMatchObject({ status: 401, errors: ['UNAUTHENTICATED'] });
    expect(lineOf(log, '[IBAN]')).toMatchObject({ status: 200, operationName: '[IBAN]' });
    expect(lineOf(log, 'essay')).toMatchObject({ operationType: 'mutation', operationName: 'Order', upstreamCalls: 1 });
    expect(lineOf(log, 'same-essay')).toMatchObject({ operationType: 'mutation', upstreamCalls: 0 });
    expect(await observed.end('call', 'hit', 'first', 'joined')).toEqual([[200], [], [200], []]);
  });

  it('when the allowance is exhausted: new look-ups fail, cached ones do not', async () => {
    const allowance = 20;
    const observed = await tObserved({ BANK_DATA_MONTHLY_ALLOWANCE: String(allowance) });
    const gateway = await observed.start();
    await gateway.send('cached', validate(tIban(1)));
    const ibans = Array.from({ length: allowance }, (_, index) => tIban(100 + index));
    const { codes } = await gateway.send('exhausted', validate(...ibans));
    expect(codes).toEqual(['UPSTREAM_ALLOWANCE_EXHAUSTED']);
    expect(await gateway.send('still-cached', validate(tIban(1)))).toMatchObject(succeeded);

    const scraped = await gateway.scrape();
    expect(remaining(scraped)[0]).toBe(0);
    expect(scraped.value('ledgerquill_allowance_limit', { service: 'bank-data' })).toBe(allowance);
    expect(paidCalls(scraped)).toBe(allowance);
    expect(operations(scraped)[3]).toBeGreaterThan(0);
    expect(errors(scraped, 'UPSTREAM_ALLOWANCE_EXHAUSTED')).toBe(1);

    const log = await gateway.logUntil('still-cached');
    const warning = { level: 40, msg: 'the monthly allowance is nearly exhausted', service: 'bank-data' };
    expect(eventsOf(log)).toMatchObject([80, 95].map((percent) => ({ ...warning, percent })));
    const line = { status: 200, errors: ['UPSTREAM_ALLOWANCE_EXHAUSTED'], lookUps: allowance };
    expect(lineOf(log, 'exhausted')).toMatchObject(line);
    await observed.end();
  });
});
