import { describe, expect, it } from 'vitest';
import { as, ec, jwkOf, jwt, keyOf, sha256, tCallers, tToken, ways } from '../../support/gateway/callers.ts';
import { replyJson, tUpstream } from '../../support/scripted-upstream.ts';

const order = `mutation { generateEssay(input: { description: "Pens", wordCount: 9, idempotencyKey: "k" }) {
  ... on Essay { id text } } }`;
const find = 'query ($id: ID!) { essay(id: $id) { text } }';
const stored = { data: { essay: { text: 'Pens.' } } };
const nothing = { data: { essay: null } };
/** A POST with this header is answered by Yoga. */
const traced = { 'apollo-federation-include-trace': 'ftv1' };

interface Ordered {
  data: { generateEssay: { id: string; text: string } };
}

async function tWriters() {
  const upstream = await tUpstream(replyJson(200, { essay: 'Pens.' }));
  const env = { ...jwt, JWT_PUBLIC_KEY: JSON.stringify(jwkOf(ec.publicKey, 'k1')) };
  const keys = ['anna', 'anna-2', 'ben'].map((key) => `${key.replace('-2', '')}:${sha256(keyOf(key))}:essays+traces`);
  return tCallers({ upstream, env: { ...env, GATEWAY_API_KEYS: keys.join() } });
}

describe.each(ways)('an essay that is requested %s', (way) => {
  const isDirect = way === 'directly';

  it('is found by its caller only, by id and by idempotency key, and never in a reply that a cache keeps', async () => {
    const { post, send, upstream } = await tWriters();
    const headers = isDirect ? {} : traced;
    const orderAs = async (caller: Record<string, string>) => {
      const received = await post({ query: order }, { ...headers, ...caller });
      return (received.json() as unknown as Ordered).data.generateEssay;
    };
    const findAs = async (caller: Record<string, string>, id: string) => {
      const { headers, json } = await send(way, { query: find, variables: { id } }, caller);
      expect(headers['cache-control']).toBe('no-store');
      return json();
    };

    const ofAnna = await orderAs(as('anna'));
    const token = { authorization: `Bearer ${await tToken({ sub: 'anna', scope: 'essays' })}` };
    for (let count = 0; count < 3; count += 1) {
      expect(await findAs(as('anna'), ofAnna.id)).toEqual(stored);
      // The second key of a caller, while the first one is replaced.
      expect(await findAs(as('anna-2'), ofAnna.id)).toEqual(stored);
      expect(await findAs(as('ben'), ofAnna.id)).toEqual(nothing);
      // Of the same name, but of another kind.
      expect(await findAs(token, ofAnna.id)).toEqual(nothing);
    }
    expect(await orderAs(as('anna'))).toEqual(ofAnna);
    expect(await orderAs(as('anna-2'))).toEqual(ofAnna);
    expect(upstream.calls).toHaveLength(1);

    const others = [await orderAs(as('ben')), await orderAs(token)];
    expect(new Set([ofAnna, ...others].map(({ id }) => id)).size).toBe(3);
    expect(upstream.calls).toHaveLength(3);
    expect(await findAs(as('ben'), others[0]?.id ?? '')).toEqual(stored);
  });

  it('is among the orders of its caller only, although others use the same idempotency key', async () => {
    const { post, send, upstream } = await tWriters();
    const listAs = async (name: string) => {
      const query = `query ($id: ID!) {
        essayOrders { nodes { id } } byKey: essayOrder(idempotencyKey: "k") { id } byId: essayOrder(id: $id) { id }
      }`;
      const { headers, json } = await send(way, { query, variables: { id: idOfAnna } }, as(name));
      expect(headers['cache-control']).toBe('no-store');
      return json().data as { essayOrders: { nodes: { id: string }[] }; byKey: { id: string } | null; byId: unknown };
    };
    let idOfAnna = 'unknown';
    await post({ query: order }, as('anna'));
    idOfAnna = (await listAs('anna')).byKey?.id ?? '';
    const ofAnna = { essayOrders: { nodes: [{ id: idOfAnna }] }, byKey: { id: idOfAnna }, byId: { id: idOfAnna } };
    for (const name of ['anna', 'anna-2']) expect(await listAs(name)).toEqual(ofAnna);
    expect(await listAs('ben')).toEqual({ essayOrders: { nodes: [] }, byKey: null, byId: null });
    await post({ query: order }, as('ben'));
    const ofBen = await listAs('ben');
    expect(ofBen.byKey?.id).not.toBe(idOfAnna);
    expect(ofBen).toEqual({ essayOrders: { nodes: [ofBen.byKey] }, byKey: ofBen.byKey, byId: null });
    expect(await listAs('anna')).toEqual(ofAnna);
    expect(upstream.calls).toHaveLength(2);
  });
});

describe.each(ways)('a list of orders that is requested %s without credentials', (way) => {
  const query = '{ essayOrders { nodes { id } } }';
  const listWith = async (env: Record<string, string>) => {
    const upstream = await tUpstream(replyJson(200, { essay: 'Pens.' }));
    const { post, send } = await tCallers({ upstream, env });
    await post({ query: order }, {});
    return (await send(way, { query }, {})).json();
  };

  it('has the orders of the only user of a gateway on the same machine', async () => {
    const id = expect.any(String);
    expect(await listWith({})).toEqual({ data: { essayOrders: { nodes: [{ id }] } } });
  });

  it.each(['gateway.example', '*'])('is refused if other machines call the gateway as %s', async (hosts) => {
    const errors = [{ extensions: { code: 'FORBIDDEN' } }];
    expect(await listWith({ ALLOWED_HOSTS: hosts })).toMatchObject({ data: { essayOrders: null }, errors });
  });
});
