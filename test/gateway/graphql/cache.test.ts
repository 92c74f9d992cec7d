import { describe, expect, it } from 'vitest';
import { countryFormats } from '../../../src/iban/registry.ts';
import { type tGateway, tScriptedGateway } from '../../support/gateway.ts';
import { tIban } from '../../support/ibans.ts';
import { replyJson, replyWithIban } from '../../support/scripted-upstream.ts';

const query = 'query ($iban: String!) { ibanValidation(iban: $iban) { iban valid } }';
const german = 'DE89370400440532013000';

const germanIbans = (count: number) => Array.from({ length: count }, (_, index) => tIban(index));
const valid = (iban: string) => ({ data: { ibanValidation: { iban, valid: true } } });

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
