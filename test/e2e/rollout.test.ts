import { EventEmitter, once } from 'node:events';
import { expect, it, vi } from 'vitest';
import { tIban } from '../support/e2e/iban.ts';
import { tProbingProxy } from '../support/e2e/probing-proxy.ts';
import { tRecordingEssayService } from '../support/e2e/recording-essay-service.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import {
  type OrderData,
  orderMutation,
  orderVariables,
  readEssay,
  tGatewayProcess,
} from '../support/gateway-process.ts';

it('replaces two gateways behind a proxy, one after the other, and no request fails', async () => {
  const service = new EventEmitter();
  let isHeld = true;
  const essays = await tRecordingEssayService({
    onChanged: () => service.emit('changed'),
    write: async () => {
      while (isHeld) await once(service, 'released');
    },
  });
  // The bank-data service runs inside each gateway, and must not stop before it.
  const upstream = { ESSAY_URL: essays.url, ESSAY_API_KEY: 'seeded-key' };
  const env = { SHUTDOWN_DELAY_MS: '1500', DATA_DIR: tFolder(), ...upstream };
  const proxy = await tProbingProxy();
  const replicas = await Promise.all([tGatewayProcess(env), tGatewayProcess(env)]);
  await Promise.all(replicas.map(({ origin }) => proxy.add(origin)));

  const headers = { 'content-type': 'application/json', 'apollo-require-preflight': 'true' };
  const send = async (query: string, variables: object = {}, url = proxy.url) => {
    const init = { method: 'POST', headers, body: JSON.stringify({ query, variables }) };
    const response = await fetch(`${url}/graphql`, init);
    return { status: response.status, text: await response.text() };
  };
  const order = async (key: string, url?: string) => {
    const { status, text } = await send(orderMutation, orderVariables('Pens', key), url);
    expect(status).toBe(200);
    return readEssay((JSON.parse(text) as { data: OrderData }).data);
  };

  let sent = 0;
  let isRolledOut = false;
  const outcomes = new Set<string>();
  /** Each IBAN is new, so each of the first two queries calls the gateway's own bank-data service. */
  const requests = [
    () => send(`{ ibanValidation(iban: "${tIban(sent)}") { valid } }`),
    () => send('query ($i: [String!]!) { ibanValidations(ibans: $i) { valid } }', { i: [tIban(sent), tIban(0)] }),
    () => send('{ country(code: "DE") { code } }'),
    async () => {
      const response = await fetch(`${proxy.url}/graphql?query={__typename}`, { headers });
      return { status: response.status, text: await response.text() };
    },
  ];
  const client = async (request: (typeof requests)[number]) => {
    while (!isRolledOut) {
      sent += 1;
      const { status, text } = await request();
      outcomes.add(`${status} ${text}`);
    }
  };
  const load = Promise.all(requests.map(client));

  const keys: string[] = [];
  for (const [index, replica] of replicas.entries()) {
    const next = await tGatewayProcess(env);
    await proxy.add(next.origin);
    isHeld = true;
    const newKeys = [0, 1, 2].map((number) => `form-${index}-${number}`);
    keys.push(...newKeys);
    // At least one is at the gateway that stops.
    const orders = Promise.all(newKeys.map((key, number) => order(key, number === 0 ? replica.origin : proxy.url)));
    while (essays.calls.length < keys.length) await once(service, 'changed');
    const enough = sent + 60;
    await vi.waitUntil(() => sent >= enough, { timeout: 20_000 });
    replica.process.kill('SIGTERM');
    await replica.untilRefused();
    isHeld = false;
    service.emit('released');
    for (const essay of await orders) expect(essay?.text).toMatch(/^Pens, call /);
    expect(await replica.process.ended).toEqual({ code: 0, signal: null });
  }
  isRolledOut = true;
  await load;
  expect([...outcomes].sort()).toEqual([
    '200 {"data":{"__typename":"Query"}}',
    '200 {"data":{"country":{"code":"DE"}}}',
    '200 {"data":{"ibanValidation":{"valid":true}}}',
    '200 {"data":{"ibanValidations":[{"valid":true},{"valid":true}]}}',
  ]);
  expect(sent).toBeGreaterThan(100);

  // The new gateways return the essays that the old ones have stored.
  const texts = (await Promise.all(keys.map((key) => order(key)))).map((essay) => essay?.text);
  expect(texts.toSorted()).toEqual(essays.calls.map(({ essay }) => essay).toSorted());
});
