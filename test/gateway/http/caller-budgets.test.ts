import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { as, contentOf, keyOf, sha256, tCallers, ways, waysAndTool } from '../../support/gateway/callers.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { replyHeld, replyJson, tUpstream } from '../../support/scripted-upstream.ts';

/** Callers with all scopes and these limits, as in the file with API keys. By default, every IBAN is valid. */
async function tLimited(limits: Record<string, object>, reply = replyJson(200, { valid: true }), env = {}) {
  const upstream = await tUpstream(reply);
  const file = join(tFolder(), 'keys.json');
  const scopes = ['bank-data', 'essays'];
  const keys = Object.entries(limits).map(([name, own]) => ({
    name,
    sha256: sha256(keyOf(name)),
    scopes,
    limits: own,
  }));
  writeFileSync(file, JSON.stringify({ keys }));
  const given = { GATEWAY_API_KEYS: '', GATEWAY_API_KEYS_FILE: file, MCP_CONSENT: 'never', ...env };
  return tCallers({ env: given, upstream });
}

type Gateway = Awaited<ReturnType<typeof tLimited>>;

const ibans = Array.from({ length: 40 }, (_, index) => generated(index));

/** A valid IBAN of the Netherlands, whose bank code is not checked. */
function generated(index: number): string {
  const account = String(index).padStart(10, '0');
  const remainder = BigInt(`10112310${account}232100`) % 97n;
  return `NL${String(98n - remainder).padStart(2, '0')}ABNA${account}`;
}

const lookUp = (iban: string) => `{ ibanValidation(iban: "${iban}") { valid } }`;
const valid = { data: { ibanValidation: { valid: true } }, errors: undefined };
const exhausted = (path = 'ibanValidation') => ({
  data: { ibanValidation: { valid: null } },
  errors: [['BUDGET_EXHAUSTED', [path, 'valid']]],
});

/** Used calls by service, as `allowances` shows them to the caller. */
async function usedBy({ post }: Gateway, name: string) {
  const query = '{ allowances { service callerBudget { used limit remaining renewsAt } } }';
  const { data } = (await post({ query }, as(name))).json() as {
    data: { allowances: { service: string; callerBudget: { used: number } | null }[] };
  };
  return Object.fromEntries(data.allowances.map(({ service, callerBudget }) => [service, callerBudget?.used ?? null]));
}

describe.each(waysAndTool)('the budget of a caller whose requests are answered %s', (way) => {
  it('is never exceeded by concurrent requests, and others have their own', async () => {
    const gateway = await tLimited({ shop: { bankDataCalls: '7/day' }, bank: {} });
    const all = await Promise.all(ibans.map((iban) => gateway.send(way, { query: lookUp(iban) }, as('shop'))));
    const contents = all.map(contentOf);
    expect(contents.filter(({ errors }) => errors === undefined)).toEqual(Array(7).fill(valid));
    expect(contents.filter(({ errors }) => errors)).toEqual(Array(ibans.length - 7).fill(exhausted()));
    expect(gateway.upstream.calls).toHaveLength(7);
    const refused = all.find(({ json }) => json().errors)?.json().errors[0];
    expect(refused?.message).toMatch(
      /^The caller's budget of calls to the bank-data service is exhausted; it renews at \S+T00:00:00.000Z\.$/,
    );
    for (const iban of ibans) {
      expect(contentOf(await gateway.send(way, { query: lookUp(iban) }, as('bank')))).toEqual(valid);
    }
    expect(gateway.upstream.calls).toHaveLength(ibans.length);
    expect(await usedBy(gateway, 'shop')).toEqual({ BANK_DATA: 7, ESSAYS: null });
    expect(await usedBy(gateway, 'bank')).toEqual({ BANK_DATA: null, ESSAYS: null });
  });
});

describe.each(ways)('the budget of a caller whose requests are answered %s', (way) => {
  it('pays neither for cached look-ups nor for kept replies', async () => {
    const gateway = await tLimited({ shop: { bankDataCalls: '1/month' }, bank: { bankDataCalls: '0/day' } });
    const [iban = ''] = ibans;
    for (const name of ['shop', 'shop', 'shop', 'bank', 'bank']) {
      expect(contentOf(await gateway.send(way, { query: lookUp(iban) }, as(name)))).toEqual(valid);
    }
    const again = `{ again: ibanValidation(iban: "${iban}") { valid } }`;
    expect((await gateway.send(way, { query: again }, as('bank'))).json().data).toEqual({ again: { valid: true } });
    expect(await usedBy(gateway, 'shop')).toMatchObject({ BANK_DATA: 1 });
    expect(await usedBy(gateway, 'bank')).toMatchObject({ BANK_DATA: 0 });
    expect(gateway.upstream.calls).toHaveLength(1);
  });

  it('pays for a call that others wait for as well, and is not needed by those', async () => {
    const held = replyHeld(replyJson(200, { valid: true }));
    const gateway = await tLimited({ shop: { bankDataCalls: '1/day' }, bank: { bankDataCalls: '0/day' } }, held.reply);
    const query = lookUp(ibans[1] ?? '');
    const first = gateway.send(way, { query }, as('shop'));
    await gateway.upstream.nextCall();
    const second = gateway.send(way, { query }, as('bank'));
    await untilReceived(gateway);
    held.release();
    expect([contentOf(await first), contentOf(await second)]).toEqual([valid, valid]);
    expect(gateway.upstream.calls).toHaveLength(1);
    expect(await usedBy(gateway, 'bank')).toMatchObject({ BANK_DATA: 0 });
  });

  it('fails no other caller who waits for the same call', async () => {
    const held = replyHeld(replyJson(200, { valid: true }));
    const limits = { poor: { bankDataCalls: '0/day' }, bank: { bankDataCalls: '2/day' } };
    const gateway = await tLimited(limits, held.reply, { UPSTREAM_CONCURRENCY: '1' });
    const before = gateway.send(way, { query: lookUp(ibans[2] ?? '') }, as('bank'));
    await gateway.upstream.nextCall();
    // Waits in the queue, and counts its call only when its turn comes.
    const query = lookUp(ibans[3] ?? '');
    const first = gateway.send(way, { query }, as('poor'));
    await untilReceived(gateway);
    const second = gateway.send(way, { query }, as('bank'));
    await untilReceived(gateway);
    held.release();
    expect(contentOf(await before)).toEqual(valid);
    expect(contentOf(await first)).toEqual(exhausted());
    expect(contentOf(await second)).toEqual(valid);
    expect(gateway.upstream.calls).toHaveLength(2);
  });

  it('gets a call back that could not be made', async () => {
    const gateway = await tLimited({ shop: { bankDataCalls: '1/day', essayCalls: '1/day' } });
    await gateway.upstream.stop();
    for (const iban of ibans.slice(0, 3)) {
      const { errors } = contentOf(await gateway.send(way, { query: lookUp(iban) }, as('shop')));
      expect(errors?.[0]?.[0]).toMatch(/^UPSTREAM_/);
    }
    const essay = await gateway.post({ query: order('Pens') }, as('shop'));
    expect(essay.json().data).toEqual({ generateEssay: { code: expect.stringMatching(/^UPSTREAM_/) } });
    expect(await usedBy(gateway, 'shop')).toEqual({ BANK_DATA: 0, ESSAYS: 0 });
  });

  it('is shown by allowances, for the services in the scopes of the caller', async () => {
    const gateway = await tCallers({
      callers: { bank: 'bank-data', reader: 'introspection' },
      env: { CALLER_BANK_DATA_CALLS: '5/month', CALLER_ESSAY_CALLS: '3/day' },
    });
    const query = '{ allowances { service limit callerBudget { used limit remaining renewsAt } } }';
    const callerBudget = { used: 0, limit: 5, remaining: 5, renewsAt: expect.stringMatching(/-01T00:00:00\.000Z$/) };
    const received = await gateway.send(way, { query }, as('bank'));
    expect(received.json()).toEqual({ data: { allowances: [{ service: 'BANK_DATA', limit: null, callerBudget }] } });
    expect(received.headers['cache-control']).toBe('no-store');
    expect((await gateway.send(way, { query }, as('reader'))).json()).toEqual({ data: { allowances: [] } });
  });

  it('limits the cost of a query, also if its reply is kept for others', async () => {
    const gateway = await tLimited({ shop: { maxQueryCost: 1_000 }, bank: {} });
    const query = `{ ${Array.from({ length: 20 }, (_, index) => `a${index}: countries { code }`).join(' ')} }`;
    for (let count = 0; count < 2; count += 1) {
      expect((await gateway.send(way, { query }, as('bank'))).json().errors).toBeUndefined();
      const refused = await gateway.send(way, { query }, as('shop'));
      expect(refused.json().data).toBeUndefined();
      expect(refused.json().errors[0]?.message).toMatch(/^The query costs \d+; it may cost at most 1000 /);
    }
  });
});

const order = (description: string, key = '') => `mutation { generateEssay(input: {
  description: "${description}", wordCount: 9${key && `, idempotencyKey: "${key}"`} }) {
  ... on Essay { id } ... on EssayAllowanceExhausted { message renewsAt } ... on EssayServiceFailed { code } } }`;

describe('the budget of essays', () => {
  it('pays for each new order, and not for repeated ones or for reading them', async () => {
    const gateway = await tLimited({ writer: { essayCalls: '2/month' } }, replyJson(200, { essay: 'Pens.' }));
    const send = async (query: string) => (await gateway.post({ query }, as('writer'))).json();
    const concurrent = await Promise.all(Array.from({ length: 5 }, () => send(order('Pens', 'k'))));
    const [first] = concurrent as { data: { generateEssay: { id: string } } }[];
    expect(concurrent).toEqual(Array(5).fill(first));
    for (let count = 0; count < 3; count += 1) {
      expect(await send(order('Pens', 'k'))).toEqual(first);
      const found = await send(`{ essay(id: "${first?.data.generateEssay.id}") { text } }`);
      expect(found).toEqual({ data: { essay: { text: 'Pens.' } } });
    }
    expect(await usedBy(gateway, 'writer')).toEqual({ BANK_DATA: null, ESSAYS: 1 });
    const orders = await Promise.all(['Ink', 'Nibs', 'Paper'].map((description) => send(order(description))));
    const results = orders.map(({ data }) => (data as { generateEssay: object }).generateEssay);
    expect(results.filter((result) => 'id' in result)).toHaveLength(1);
    const message = expect.stringMatching(
      /^The caller's budget of calls to the essay service is exhausted; it renews at /,
    );
    const renewsAt = expect.stringMatching(/-01T00:00:00\.000Z$/);
    expect(results.filter((result) => 'renewsAt' in result)).toEqual(Array(2).fill({ message, renewsAt }));
    expect(gateway.upstream.calls).toHaveLength(2);
  });

  it('that is used up leaves no order in the store, and a line without its text in the log', async () => {
    const gateway = await tLimited({ writer: { essayCalls: '0/month' } });
    const send = async (query: string) => (await gateway.post({ query }, as('writer'))).json();
    const start = (description: string, key: string) =>
      order(description, key).replace('generateEssay', 'startEssay').replace('on Essay {', 'on EssayOrder {');
    const message = expect.stringMatching(/^The caller's budget of calls to the essay service is exhausted; /);
    const refused = { message, renewsAt: expect.stringMatching(/-01T00:00:00\.000Z$/) };
    for (const key of ['a', 'b', 'c']) {
      expect(await send(start('A confidential subject', key))).toEqual({ data: { startEssay: refused } });
      const waiting = order('A confidential subject', `${key}-awaited`);
      expect(await send(waiting)).toEqual({ data: { generateEssay: refused } });
    }
    expect(await send('{ essayOrders { nodes { id } } }')).toEqual({ data: { essayOrders: { nodes: [] } } });
    expect(await usedBy(gateway, 'writer')).toMatchObject({ ESSAYS: 0 });
    expect(gateway.upstream.calls).toHaveLength(0);
    const outcome = '"outcomes":["EssayAllowanceExhausted"],"errors":["BUDGET_EXHAUSTED"]';
    await vi.waitUntil(() => gateway.log().split(outcome).length - 1 === 6, 20_000);
    expect(gateway.log()).not.toContain('confidential');
  });
});

/** Answered after the requests that were sent before it were read. */
async function untilReceived({ origin }: Gateway): Promise<void> {
  for (let count = 0; count < 3; count += 1) await fetch(`${origin}/health`);
}
