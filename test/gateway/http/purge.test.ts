import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { runCommand } from '../../support/command.ts';
import { tListeningGateway } from '../../support/gateway/http/listening-gateway.ts';
import { sharing } from '../../support/process.ts';
import { tRedis, whyNoRedis } from '../../support/redis.ts';
import { type Reply, replyJson, tUnusedUrl, tUpstream } from '../../support/scripted-upstream.ts';

const operatorKey = 'seeded-operator-key-of-32-characters';
const iban = 'DE89370400440532013000';
const otherIban = 'GB29NWBK60161331926819';
const withPurge = { METRICS_PORT: '0', OPERATOR_KEY: operatorKey };

/** The upstream names each bank by the number of the call, or the one that a test sets. */
async function tNumberedUpstream() {
  let name = 'old';
  const upstream = await tUpstream(((response, call) =>
    replyJson(200, { valid: true, bank_data: { name, country_code: 'DE' } })(response, call)) satisfies Reply);
  const rename = (next: string) => {
    name = next;
  };
  return { upstream, rename };
}

async function tGatewayWithKey(
  env: Record<string, string> = {},
  given?: Awaited<ReturnType<typeof tNumberedUpstream>>,
) {
  const { upstream, rename } = given ?? (await tNumberedUpstream());
  const gateway = await tListeningGateway({ ...withPurge, ...env }, upstream);
  const query = 'query ($iban: String!) { ibanValidation(iban: $iban) { bankData { name } } }';
  return {
    ...gateway,
    rename,
    metricsOrigin: new URL(gateway.metricsUrl() ?? '').origin,
    nameOf: async (wanted: string): Promise<unknown> =>
      (await gateway.ask(query, { iban: wanted })).data?.ibanValidation?.bankData?.name,
  };
}

type GatewayWithKey = Awaited<ReturnType<typeof tGatewayWithKey>>;

const purge = ({ metricsOrigin }: GatewayWithKey, body: object, key = operatorKey) =>
  fetch(`${metricsOrigin}/purge`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });

describe('POST /purge', () => {
  it('takes back what is in memory, with kept replies, and nothing else', async () => {
    const gateway = await tGatewayWithKey();
    for (let repeat = 0; repeat < 4; repeat += 1) {
      expect([await gateway.nameOf(iban), await gateway.nameOf(otherIban)]).toEqual(['old', 'old']);
    }
    gateway.rename('new');
    const { status } = await purge(gateway, { iban });
    expect(status).toBe(200);
    for (let repeat = 0; repeat < 4; repeat += 1) {
      expect([await gateway.nameOf(iban), await gateway.nameOf(otherIban)]).toEqual(['new', 'old']);
    }
    expect(gateway.upstream.calls).toHaveLength(3);
    expect(gateway.log()).toContain('"kind":"iban","msg":"cached look-ups were purged by the operator"');
    expect(gateway.log()).not.toContain(iban);
    expect(gateway.log()).not.toContain(operatorKey);
  });

  it('is refused without the key, with another method or body, and is not on the public port', async () => {
    const gateway = await tGatewayWithKey();
    await gateway.nameOf(iban);
    gateway.rename('new');
    const get = await fetch(`${gateway.metricsOrigin}/purge`);
    const replies = [
      await purge(gateway, { allLookUps: true }, 'another-key'),
      await fetch(`${gateway.metricsOrigin}/purge`, { method: 'POST', body: '{"allLookUps":true}' }),
      get,
      await purge(gateway, { iban: 'DE00370400440532013000' }),
      await purge(gateway, { bic: 'x'.repeat(2_000) }),
      await purge({ ...gateway, metricsOrigin: gateway.origin }, { allLookUps: true }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([401, 401, 405, 400, 413, 404]);
    expect(await replies[3]?.text()).toBe('iban must be a valid IBAN; others are never cached.\n');
    expect(await gateway.nameOf(iban)).toBe('old');
    expect(gateway.log()).not.toContain('purged');
  });

  it('does not exist without OPERATOR_KEY', async () => {
    const gateway = await tGatewayWithKey({ OPERATOR_KEY: '' });
    expect((await purge(gateway, { allLookUps: true })).status).toBe(404);
  });
});

describe('ledgerquill purge', () => {
  it.each([
    [['--iban', '-'], ['new', 'old'], `${iban}\n`],
    [['--bank-code', '37040044'], ['new', 'old'], ''],
    [['--country', 'GB'], ['old', 'new'], ''],
    [['--all-look-ups'], ['new', 'new'], ''],
  ])('%j takes back what it names', async (args, expected, input) => {
    const gateway = await tGatewayWithKey();
    const names = async () => [await gateway.nameOf(iban), await gateway.nameOf(otherIban)];
    expect(await names()).toEqual(['old', 'old']);
    gateway.rename('new');
    const env = { OPERATOR_KEY: operatorKey };
    const { code, stdout } = await runCommand(['purge', '--gateway', gateway.metricsOrigin, ...args], env, input);
    expect([code, stdout]).toEqual([0, 'Purged. All gateways know it within 500 ms.\n']);
    expect(await names()).toEqual(expected);
  });

  it('says what is wrong', async () => {
    const gateway = await tGatewayWithKey();
    const run = (args: string[], env = { OPERATOR_KEY: operatorKey }, origin = gateway.metricsOrigin) =>
      runCommand(['purge', '--gateway', origin, ...args], env);
    const results = [
      await run([]),
      await run(['--country', 'Germany']),
      await run(['--country', 'DE', '--bic', 'COBADEFF']),
      await run(['--all-look-ups'], { OPERATOR_KEY: 'another-key' }),
      await run(['--all-look-ups'], undefined, gateway.origin),
      await run(['--all-look-ups'], undefined, '127.0.0.1:9464'),
      await run(['--all-look-ups'], undefined, await tUnusedUrl()),
    ];
    expect(results.map(({ code }) => code)).toEqual(results.map(() => 2));
    expect(results.map(({ stderr }) => stderr.split('\n')[0])).toEqual([
      'error: must have one of iban, bic, bankCode, country, allLookUps.',
      'error: country must be an ISO 3166-1 alpha-2 code, such as DE.',
      "error: option '--bic <bic>' cannot be used with option '--country <code>'",
      'error: authorization must be Bearer and OPERATOR_KEY.',
      'error: --gateway must be the URL of METRICS_PORT, and the gateway needs OPERATOR_KEY',
      'error: --gateway must be the http:// or https:// URL of METRICS_PORT, but is "127.0.0.1:9464"',
      expect.stringMatching(/^error: the gateway at http:.* cannot be reached: ECONNREFUSED$/),
    ]);
    const { code, stderr } = await run(['--all-look-ups'], { OPERATOR_KEY: '' });
    expect(code).toBe(1);
    expect(stderr).toContain('OPERATOR_KEY: missing; it must be that of the gateway');
  });
});

describe.skipIf(whyNoRedis)(`a purge of gateways that share a Redis${whyNoRedis}`, { timeout: 120_000 }, () => {
  it('leaves no old answer at either, nor at one that starts later, and no essay is lost', async () => {
    // Each gateway reads the purges when the test lets time pass.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const redis = await tRedis();
    const source = await tNumberedUpstream();
    const [one, other] = [await tGatewayWithKey(sharing(redis), source), await tGatewayWithKey(sharing(redis), source)];
    const order = `mutation { generateEssay(input: { description: "Ink", wordCount: 100, idempotencyKey: "form-1" }) {
      ... on Essay { id text } } }`;
    source.upstream.answers(replyJson(200, { essay: 'Ink lasts.' }));
    const essay = (await one.ask(order)).data?.generateEssay;
    expect(essay).toHaveProperty('text');
    const name = (text: string) =>
      source.upstream.answers(replyJson(200, { valid: true, bank_data: { name: text, country_code: 'DE' } }));
    name('old');
    const gateways = [one, other];
    const askBoth = (wanted: string) => Promise.all(gateways.map(({ nameOf }) => nameOf(wanted)));
    expect(await askBoth(iban)).toEqual(['old', 'old']);
    expect(await askBoth(otherIban)).toEqual(['old', 'old']);

    name('new');
    let isStopped = false;
    const seen: unknown[] = [];
    const load = gateways.map(async ({ nameOf }) => {
      while (!isStopped) {
        seen.push(await nameOf(iban));
        // A kept reply needs no turn of the event loop.
        await setImmediate();
      }
    });
    expect((await purge(one, { iban })).status).toBe(200);
    expect(await one.nameOf(iban)).toBe('new');
    vi.advanceTimersByTime(200);
    await vi.waitFor(async () => expect(await other.nameOf(iban)).toBe('new'), { timeout: 60_000 });
    const sinceSeen = seen.length;
    await vi.waitUntil(() => seen.length > sinceSeen + 20, { timeout: 60_000 });
    isStopped = true;
    await Promise.all(load);
    // Each gateway may have had one answer on its way.
    expect(new Set(seen.slice(sinceSeen + 2))).toEqual(new Set(['new']));

    const later = await tGatewayWithKey(sharing(redis), source);
    expect(await later.nameOf(iban)).toBe('new');
    expect(await askBoth(otherIban)).toEqual(['old', 'old']);
    for (const gateway of [...gateways, later]) expect((await gateway.ask(order)).data?.generateEssay).toEqual(essay);
  });

  it('is not forgotten while only an old entry remains in Redis', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const redis = await tRedis();
    const source = await tNumberedUpstream();
    const one = await tGatewayWithKey(sharing(redis), source);
    expect(await one.nameOf(iban)).toBe('old');
    source.rename('new');
    expect((await purge(one, { iban })).status).toBe(200);
    const later = await tGatewayWithKey({ ...sharing(redis), OPERATOR_KEY: '' }, source);
    expect(await later.nameOf(iban)).toBe('new');
    expect(source.upstream.calls).toHaveLength(2);
  });

  it('is refused while Redis is stopped, and nothing is purged', async () => {
    const redis = await tRedis();
    const gateway = await tGatewayWithKey(sharing(redis));
    expect(await gateway.nameOf(iban)).toBe('old');
    gateway.rename('new');
    await redis.stop();
    expect((await purge(gateway, { iban })).status).toBe(503);
    expect(await gateway.nameOf(iban)).toBe('old');
  });
});
