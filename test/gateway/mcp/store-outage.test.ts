import { describe, expect, it } from 'vitest';
import { tListeningGateway } from '../../support/gateway/http/listening-gateway.ts';
import { tMcpClient } from '../../support/gateway/mcp/mcp-client.ts';
import { bankDataKey } from '../../support/gateway.ts';
import { tIban } from '../../support/ibans.ts';
import { replyJson, replyWithIban, tUpstream } from '../../support/scripted-upstream.ts';

/* While the store fails, agents can do what queries can, and pay for no more than was agreed. */

/** A gateway whose Redis does not exist: nothing listens at its port. */
async function tOutage(env = {}) {
  const upstream = await tUpstream(replyWithIban);
  const store = { REDIS_URL: 'redis://127.0.0.1:1', STORE_SECRET: 'seeded-store-secret-of-32-characters' };
  const paid = { BANK_DATA_URL: upstream.url, BANK_DATA_API_KEY: bankDataKey };
  return tListeningGateway({ ...paid, ...store, ...env }, upstream);
}

const ibans = [1, 2, 3].map((number) => tIban(number));
const confirmationIn = (text: string) => /"confirmation": "([^"]+)"/.exec(text)?.[1];

describe('while the store fails', () => {
  it('a tool that needs no consent makes its calls, as a query does, and no retries beyond its number', async () => {
    const { origin, upstream, ask } = await tOutage({ MCP_CONSENT: 'never' });
    const { data } = await ask(`{ ibanValidation(iban: "${tIban(9)}") { valid } }`);
    expect(data).toEqual({ ibanValidation: { valid: true } });
    const { call } = await tMcpClient(origin);
    expect((await call('check_ibans', { ibans })).isError).toBe(false);
    expect(upstream.calls).toHaveLength(4);
    upstream.answers(replyJson(503, {}));
    expect((await call('check_iban', { iban: tIban(4) })).isError).toBe(true);
    expect(upstream.calls).toHaveLength(5);
  });

  it.each([
    ['never', { MCP_TOOL_CALLS: '10' }],
    ['above:10', {}],
  ])('a cap that was not read is not passed (consent %s)', async (consent, env) => {
    const { origin, upstream } = await tOutage({ MCP_CONSENT: consent, ...env });
    const { call } = await tMcpClient(origin);
    expect((await call('check_ibans', { ibans })).isError).toBe(true);
    expect(upstream.calls).toHaveLength(0);
  });

  it('a consent that another gateway may have used pays for nothing, and the user is not asked again', async () => {
    const { origin, upstream } = await tOutage();
    const { call } = await tMcpClient(origin);
    const confirmation = confirmationIn((await call('check_ibans', { ibans })).text);
    const { text, isError } = await call('check_ibans', { ibans, confirmation });
    expect([isError, text]).toEqual([true, expect.stringContaining('the store that counts them cannot be reached')]);
    const asked = await tMcpClient(origin, { answer: () => true });
    expect((await asked.call('check_ibans', { ibans })).text).toBe(text);
    expect(asked.questions).toHaveLength(1);
    expect(upstream.calls).toHaveLength(0);
  });

  it('a consent is used once at the only gateway that knows it', async () => {
    // No folder can be created there.
    const { origin, upstream } = await tOutage({ REDIS_URL: '', STORE_SECRET: '', DATA_DIR: '/proc/ledgerquill' });
    upstream.answers(replyJson(404, {}));
    const { call } = await tMcpClient(origin);
    const confirmation = confirmationIn((await call('check_ibans', { ibans })).text);
    await Promise.all([1, 2, 3].map(() => call('check_ibans', { ibans, confirmation })));
    expect(upstream.calls).toHaveLength(3);
    expect(confirmationIn((await call('check_ibans', { ibans, confirmation })).text)).toEqual(expect.any(String));
    expect(upstream.calls).toHaveLength(3);
  });
});
