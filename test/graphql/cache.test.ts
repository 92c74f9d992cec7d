import { describe, expect, it, vi } from 'vitest';
import { buildIban } from '../../src/iban/build-iban.ts';
import { countryFormats } from '../../src/iban/registry.ts';
import { tGateway, tScriptedGateway } from '../support/gateway.ts';
import { type Reply, replyHeld, replyJson } from '../support/scripted-upstream.ts';

const query = 'query ($iban: String!) { ibanValidation(iban: $iban) { iban valid } }';
const german = 'DE89370400440532013000';

const echo: Reply = (response, call) => {
  return replyJson(200, { valid: true, iban: call.query.get('iban_number') })(response, call);
};

function germanIbans(count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const generated = buildIban({ country: 'DE', bankCode: '37040044', accountNumber: String(index) });
    return generated.kind === 'iban' ? generated.iban : '';
  });
}

describe('the cache', () => {
  it('makes one call for 100 simultaneous requests for the same IBAN', async () => {
    const { reply, release } = replyHeld(echo);
    const { ask, upstream } = await tScriptedGateway(reply);
    const arrived = upstream.nextCall();
    const answers = Array.from({ length: 100 }, () => ask(query, { iban: german }));
    await arrived;
    release();
    const expected = { data: { ibanValidation: { iban: german, valid: true } } };
    expect(await Promise.all(answers)).toEqual(answers.map(() => expected));
    expect(upstream.calls).toHaveLength(1);
  });

  it('makes 100 calls for 1,000 requests for 100 IBANs', async () => {
    const { ask, upstream } = await tScriptedGateway(echo);
    const ibans = germanIbans(100);
    const answers = Array.from({ length: 1_000 }, (_, index) => ask(query, { iban: ibans[index % 100] }));
    for (const answer of await Promise.all(answers)) expect(answer.errors).toBeUndefined();
    expect(upstream.calls).toHaveLength(100);
  });

  it('shares calls between a list and a single look-up', async () => {
    const { reply, release } = replyHeld(echo);
    const { ask, upstream } = await tScriptedGateway(reply);
    const ibans = germanIbans(3);
    const list = ask('query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { valid } }', { ibans });
    const single = ask(query, { iban: ibans[1] });
    await upstream.nextCall();
    release();
    await Promise.all([list, single]);
    expect(upstream.calls).toHaveLength(3);
  });

  it('does not abort a call for a disconnected client while another client waits for it', async () => {
    const { reply, release } = replyHeld(echo);
    const { ask, upstream } = await tScriptedGateway(reply);
    const disconnecting = new AbortController();
    const aborted = ask(query, { iban: german }, disconnecting.signal).catch((error: Error) => error.name);
    const remaining = ask(query, { iban: german });
    await upstream.nextCall();
    disconnecting.abort();
    expect(await aborted).toBe('AbortError');
    release();
    expect((await remaining).data?.ibanValidation).toEqual({ iban: german, valid: true });
    expect(upstream.calls).toHaveLength(1);
  });

  it('keeps the answer to a call that was sent although its only client has disconnected', async () => {
    const { reply, release } = replyHeld(echo);
    const { ask, upstream } = await tScriptedGateway(reply);
    const disconnecting = new AbortController();
    const aborted = ask(query, { iban: german }, disconnecting.signal).catch((error: Error) => error.name);
    await upstream.nextCall();
    disconnecting.abort();
    expect(await aborted).toBe('AbortError');
    release();
    const expected = { data: { ibanValidation: { iban: german, valid: true } } };
    expect(await ask(query, { iban: german })).toEqual(expected);
    expect(await ask(query, { iban: german })).toEqual(expected);
    expect(upstream.calls).toHaveLength(1);
  });

  it('makes a new call for a request after all earlier clients disconnected, also while calls are queued', async () => {
    const { reply, release } = replyHeld(echo);
    const { ask, upstream } = await tScriptedGateway(reply, { UPSTREAM_CONCURRENCY: '1' });
    const [first, second] = germanIbans(2);
    const queuedFirst = ask(query, { iban: first });
    await upstream.nextCall();
    const disconnecting = new AbortController();
    const aborted = ask(query, { iban: second }, disconnecting.signal).catch((error: Error) => error.name);
    await new Promise(setImmediate);
    disconnecting.abort();
    expect(await aborted).toBe('AbortError');
    const later = ask(query, { iban: second });
    await new Promise(setImmediate);
    release();
    await queuedFirst;
    expect(await later).toEqual({ data: { ibanValidation: { iban: second, valid: true } } });
    expect(upstream.calls).toHaveLength(2);
  });

  it('answers every cached IBAN while the service is down, and reports it as stale', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const gateway = await tScriptedGateway(echo, { EXPOSE_COST: 'on' });
    const { upstream } = gateway;
    const ibans = germanIbans(20);
    for (const iban of ibans) await gateway.ask(query, { iban });
    upstream.answers(replyJson(500, {}));
    vi.advanceTimersByTime(2 * 86_400_000);
    for (const iban of ibans) {
      const response = await gateway.postLocally({ query, variables: { iban } }, { 'x-cost': '1' });
      expect(await response.json()).toEqual({
        data: { ibanValidation: { iban, valid: true } },
        extensions: { cost: { lookUps: 1, cacheHits: 1, staleHits: 1, upstreamCalls: expect.any(Number) } },
      });
    }
  });
});

describe('extensions.cost', () => {
  async function askForCost(gateway: ReturnType<typeof tGateway>, text: string) {
    const response = await gateway.postLocally({ query: text }, { 'x-cost': '1' });
    return (await response.json()).extensions?.cost;
  }

  it('has the number of look-ups, cache hits and calls, retries included', async () => {
    let calls = 0;
    const gateway = await tScriptedGateway(
      (response, call) => {
        calls += 1;
        return (calls === 1 ? replyJson(503, {}) : echo)(response, call);
      },
      { EXPOSE_COST: 'on' },
    );
    const [one, two] = germanIbans(2);
    const text = `{ ibanValidations(ibans: ["${one}", "${two}", "${one}"]) { valid } bank(bic: "X") { name } }`;
    expect(await askForCost(gateway, text)).toEqual({ lookUps: 2, cacheHits: 0, staleHits: 0, upstreamCalls: 3 });
    expect(await askForCost(gateway, text)).toEqual({ lookUps: 2, cacheHits: 2, staleHits: 0, upstreamCalls: 0 });
  });

  it('is absent without EXPOSE_COST=on: it shows whether someone looked up an IBAN before', async () => {
    const gateway = await tScriptedGateway(echo);
    const [iban] = germanIbans(1);
    const text = `{ ibanValidation(iban: "${iban}") { valid } }`;
    expect(await askForCost(gateway, text)).toBeUndefined();
    expect(await askForCost(gateway, text)).toBeUndefined();
  });

  it('is absent unless requested', async () => {
    const { ask } = tGateway({ env: { EXPOSE_COST: 'on' } });
    expect(await ask('{ country(code: "DE") { code } }')).toEqual({ data: { country: { code: 'DE' } } });
  });
});

it('an impossible IBAN costs no call, in any country', async () => {
  const { ask, upstream } = await tScriptedGateway(echo);
  const ibans = countryFormats().map(({ example }) => `${example.slice(0, 2)}00${example.slice(4)}`);
  const { data } = await ask('query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { valid } }', { ibans });
  expect(data?.ibanValidations).toEqual(ibans.map(() => ({ valid: false })));
  expect(upstream.calls).toHaveLength(0);
});
