import { describe, expect, it, vi } from 'vitest';
import { countryFormats } from '../../../src/iban/registry.ts';
import { tIban } from '../../support/e2e/iban.ts';
import { type tGateway, tScriptedGateway } from '../../support/gateway.ts';
import { replyHeld, replyJson, replyWithIban } from '../../support/scripted-upstream.ts';

const query = 'query ($iban: String!) { ibanValidation(iban: $iban) { iban valid } }';
const german = 'DE89370400440532013000';

const germanIbans = (count: number) => Array.from({ length: count }, (_, index) => tIban(index));
const valid = (iban: string) => ({ data: { ibanValidation: { iban, valid: true } } });

/** A gateway whose upstream replies after `release`. */
async function tHeld(env = {}) {
  const { reply, release } = replyHeld(replyWithIban);
  const gateway = await tScriptedGateway(reply, env);
  const look = (iban: string, signal?: AbortSignal) => gateway.ask(query, { iban }, signal);
  return {
    ...gateway,
    release,
    look,
    /** A client who asks at once and leaves later. */
    begin(iban: string) {
      const client = new AbortController();
      const aborted = look(iban, client.signal).catch((error: Error) => error.name);
      return async () => {
        client.abort();
        expect(await aborted).toBe('AbortError');
      };
    },
  };
}

describe('the cache', () => {
  it('makes one call for 100 simultaneous requests for the same IBAN', async () => {
    const { look, upstream, release } = await tHeld();
    const arrived = upstream.nextCall();
    const answers = Array.from({ length: 100 }, () => look(german));
    await arrived;
    release();
    expect(await Promise.all(answers)).toEqual(answers.map(() => valid(german)));
    expect(upstream.calls).toHaveLength(1);
  });

  it('shares calls between a list and a single look-up', async () => {
    const { ask, look, upstream, release } = await tHeld();
    const ibans = germanIbans(3);
    const list = ask('query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { valid } }', { ibans });
    const single = look(tIban(1));
    await upstream.nextCall();
    release();
    await Promise.all([list, single]);
    expect(upstream.calls).toHaveLength(3);
  });

  it.each([true, false])(
    'keeps the answer to a call that was sent after its client has disconnected, while another one waits: %s',
    async (isAwaited) => {
      const { look, begin, upstream, release } = await tHeld();
      const leave = begin(german);
      const other = isAwaited ? look(german) : null;
      await upstream.nextCall();
      await leave();
      release();
      if (other) expect(await other).toEqual(valid(german));
      expect(await look(german)).toEqual(valid(german));
      expect(await look(german)).toEqual(valid(german));
      expect(upstream.calls).toHaveLength(1);
    },
  );

  it('makes a new call for a request after all earlier clients disconnected, also while calls are queued', async () => {
    const { look, begin, upstream, release } = await tHeld({ UPSTREAM_CONCURRENCY: '1' });
    const queuedFirst = look(tIban(0));
    await upstream.nextCall();
    const leave = begin(tIban(1));
    await new Promise(setImmediate);
    await leave();
    const later = look(tIban(1));
    await new Promise(setImmediate);
    release();
    await queuedFirst;
    expect(await later).toEqual(valid(tIban(1)));
    expect(upstream.calls).toHaveLength(2);
  });

  it('answers every cached IBAN while the service is down, and reports it as stale', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const gateway = await tScriptedGateway(replyWithIban, { ANONYMOUS_SCOPES: 'bank-data+essays+cost' });
    const ibans = germanIbans(20);
    for (const iban of ibans) await gateway.ask(query, { iban });
    gateway.upstream.answers(replyJson(500, {}));
    vi.advanceTimersByTime(2 * 86_400_000);
    for (const iban of ibans) {
      const response = await gateway.postLocally({ query, variables: { iban } }, { 'x-cost': '1' });
      expect(await response.json()).toEqual({
        ...valid(iban),
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
    const gateway = await tScriptedGateway(
      (response, call) => {
        gateway.upstream.answers(replyWithIban);
        return replyJson(503, {})(response, call);
      },
      { ANONYMOUS_SCOPES: 'bank-data+essays+cost' },
    );
    const [one, two] = germanIbans(2);
    const text = `{ ibanValidations(ibans: ["${one}", "${two}", "${one}"]) { valid } bank(bic: "X") { name } }`;
    expect(await askForCost(gateway, text)).toEqual({ lookUps: 2, cacheHits: 0, staleHits: 0, upstreamCalls: 3 });
    expect(await askForCost(gateway, text)).toEqual({ lookUps: 2, cacheHits: 2, staleHits: 0, upstreamCalls: 0 });
  });

  it('is absent without the scope cost: it shows whether someone looked up an IBAN before', async () => {
    const gateway = await tScriptedGateway(replyWithIban);
    for (let time = 0; time < 2; time += 1) {
      expect(await askForCost(gateway, `{ ibanValidation(iban: "${german}") { valid } }`)).toBeUndefined();
    }
  });

  it('is absent unless requested', async () => {
    const { ask } = await tScriptedGateway(replyWithIban, { ANONYMOUS_SCOPES: 'bank-data+essays+cost' });
    expect(await ask(query, { iban: german })).toEqual(valid(german));
  });
});

it('an impossible IBAN costs no call, in any country', async () => {
  const { ask, upstream } = await tScriptedGateway(replyWithIban);
  const ibans = countryFormats().map(({ example }) => `${example.slice(0, 2)}00${example.slice(4)}`);
  const { data } = await ask('query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { valid } }', { ibans });
  expect(data?.ibanValidations).toEqual(ibans.map(() => ({ valid: false })));
  expect(upstream.calls).toHaveLength(0);
});
