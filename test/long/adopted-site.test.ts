import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { fencedBlocks } from '../support/docs/blocks.ts';
import { ec, jwkOf, jwt, otherEc, sha256, tToken } from '../support/gateway/callers.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { scrape } from '../support/gateway/telemetry/scrape.ts';
import { tIban } from '../support/ibans.ts';
import { tFreePort } from '../support/loopback.ts';
import {
  findProgram,
  type GatewayProcess,
  orderMutation,
  orderVariables,
  tCommand,
  tGatewayProcess,
  tProcess,
  whyNoHaproxy,
} from '../support/process.ts';
import { tRedisProcess, whyNoRedis } from '../support/redis.ts';
import { replyJson, tUpstream } from '../support/scripted-upstream.ts';

/* docs/operations.md, followed with real processes: two gateways with Redis behind HAProxy, under a small load. */

const blocks = fencedBlocks(readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8'));
const find = (start: string) => blocks.find(({ text }) => text.startsWith(start))?.text ?? '';
const whyNoSite = whyNoRedis || whyNoHaproxy;
const operatorKey = 'seeded-operator-key-of-32-characters';
const storeSecret = 'seeded-secret-of-the-store';

/** Its secrets are files, which a test replaces. */
async function tAdopted() {
  const redis = await tRedisProcess(['--maxmemory-policy', 'noeviction'], {
    isDurable: true,
    password: 'seeded-password',
  });
  let bankName = 'old';
  const upstream = await tUpstream((response, call) => {
    const iban = call.query.get('iban_number');
    const answer = { valid: true, iban, bank_data: { name: bankName, country_code: 'DE' } };
    const essay = 'Pens hold ink, and they hold it well for a long time. '.repeat(20);
    return replyJson(200, iban === null ? { essay } : answer)(response, call);
  });
  const issuer = await tUpstream(replyJson(200, { keys: [jwkOf(ec.publicKey, 'k1')] }));
  const folder = tFolder();
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const writeCallers = (keys: readonly string[], blocked: readonly string[] = []) =>
    write(
      'callers.json',
      JSON.stringify({
        keys: keys.map((key) => ({ name: 'shop', sha256: sha256(key), scopes: ['bank-data', 'essays'] })),
        blocked: { subjects: blocked },
      }),
    );
  write('redis-url', redis.url);
  write('store-secret', storeSecret);
  write('store-secret-old', storeSecret);
  write('operator-key', operatorKey);
  write('bank-data-api-key', 'seeded-upstream-key-1');
  write('essay-api-key', 'seeded-essay-key-1');
  writeCallers(['seeded-api-key-1']);
  const lines = `${find('BANK_DATA_URL=')}${find('REDIS_URL_FILE=')}`.trimEnd().split('\n');
  const env = {
    ...Object.fromEntries(lines.map((line) => line.replace('/run/secrets', folder).split('=', 2))),
    ...jwt,
    BANK_DATA_URL: upstream.url,
    ESSAY_URL: upstream.url,
    JWT_JWKS_URL: `${issuer.url}/keys`,
    STORE_SECRET_OLD_FILE: join(folder, 'store-secret-old'),
    // The load is that of one caller.
    CALLER_REQUESTS_PER_MINUTE: '1000000',
    CALLER_BANK_DATA_CALLS: '1000000/month',
  };
  const start = async (number: number, port: number) =>
    tGatewayProcess({ ...env, DATA_DIR: join(folder, `data-${number}`), PORT: String(port), METRICS_PORT: '0' });
  const ports = [await tFreePort(), await tFreePort()];
  const gateways = (await Promise.all(ports.map((port, index) => start(index, port)))) as [
    GatewayProcess,
    GatewayProcess,
  ];
  const url = await startHaproxy(ports, folder);
  return {
    env,
    folder,
    url,
    gateways,
    ports,
    start,
    upstream,
    issuer,
    write,
    writeCallers,
    rename: (name: string) => {
      bankName = name;
    },
  };
}

/** With the configuration of the page, but for its addresses and the certificate. @returns the URL of the endpoint */
async function startHaproxy(ports: readonly number[], folder: string): Promise<string> {
  const port = await tFreePort();
  const file = join(folder, 'haproxy.cfg');
  const page = find('defaults\n');
  let server = 0;
  const text = page
    .replace(/bind :443 .*/, `bind 127.0.0.1:${port}`)
    // Otherwise a gateway of a busy machine would count as down.
    .replace('timeout check 1s', 'timeout check 10s')
    .replaceAll(/10\.0\.0\.\d+:4000/g, () => `127.0.0.1:${ports[server++]}`);
  expect(server).toBe(2);
  writeFileSync(file, text);
  tProcess(findProgram('haproxy') ?? '', ['-db', '-f', file]);
  const url = `http://127.0.0.1:${port}/graphql`;
  await vi.waitUntil(
    () =>
      ask(url, 'seeded-api-key-1', '{ __typename }').then(
        ({ status }) => status === 200,
        () => false,
      ),
    {
      interval: 50,
      timeout: 60_000,
    },
  );
  return url;
}

interface Reply {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: of the query
  json: any;
}

/** Repeats what is marked retryable, as clients do. */
async function ask(url: string, key: string, query: string, variables: object = {}): Promise<Reply> {
  for (let retries = 0; ; retries += 1) {
    const reply = await send(url, key, query, variables);
    const errors: { extensions: { retryable?: boolean } }[] = reply.json.errors ?? [];
    if (retries === 20 || errors.length === 0 || errors.some(({ extensions }) => !extensions.retryable)) return reply;
    await pause(100);
  }
}

async function send(url: string, key: string, query: string, variables: object = {}): Promise<Reply> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, host: 'gateway.example.com' },
    body: JSON.stringify({ query, variables }),
  });
  return { status: response.status, json: await response.json() };
}

/** Repeats an order, with its key, while the gateway cannot make sure that it is paid for once. */
async function orderEssay(url: string): Promise<{ id?: string; text?: string; message?: string }> {
  for (;;) {
    const { json } = await ask(url, 'seeded-api-key-1', orderMutation, orderVariables('Pens', 'form-1'));
    if (!json.data.generateEssay.message?.includes('cannot make sure')) return json.data.generateEssay;
  }
}

const nameOf = (iban: string) => `{ ibanValidation(iban: "${iban}") { bankData { name } } }`;
const nameIn = ({ json }: Reply) => json.data?.ibanValidation?.bankData?.name;

/** Clients that look up IBANs through the proxy, one request after the other each, until they are stopped. They repeat nothing. */
function startLoad(url: string, credential: () => string, clients = 4) {
  const failures: string[] = [];
  let [isStopped, sent] = [false, 0];
  const running = Array.from({ length: clients }, async (_, client) => {
    while (!isStopped) {
      sent += 1;
      const reply = await send(url, credential(), nameOf(tIban((sent * clients + client) % 300))).catch(String);
      if (typeof reply === 'string' || reply.status !== 200 || reply.json.errors) failures.push(JSON.stringify(reply));
      await pause(5);
    }
  });
  return {
    /** Resolves after these many further requests. */
    async untilSent(count: number) {
      const wanted = sent + count;
      await vi.waitUntil(() => sent >= wanted, { interval: 20, timeout: 100_000 });
    },
    async stop(): Promise<string[]> {
      isStopped = true;
      await Promise.all(running);
      return failures;
    },
  };
}

describe.skipIf(whyNoSite)(
  `two gateways behind HAProxy, as docs/operations.md says${whyNoSite}`,
  { timeout: 280_000 },
  () => {
    it('pass check-config, publish only /graphql, and are updated without a failed request', async () => {
      const site = await tAdopted();
      const checked = tCommand(['check-config'], site.env);
      expect(await checked.ended, checked.stdout()).toMatchObject({ code: 0 });
      expect(checked.stdout()).not.toMatch(/FAILED|WARN/);
      for (const path of ['/ready', '/health', '/metrics', '/mcp'])
        expect((await fetch(new URL(path, site.url))).status).toBe(404);
      const load = startLoad(site.url, () => 'seeded-api-key-1');
      for (const index of [0, 1] as const) {
        await load.untilSent(100);
        site.gateways[index].process.kill('SIGTERM');
        expect(await site.gateways[index].process.ended).toEqual({ code: 0, signal: null });
        site.gateways[index] = await site.start(index, site.ports[index] ?? 0);
        // HAProxy checks it each second.
        await load.untilSent(100);
        await pause(3_000);
      }
      expect(await load.stop()).toEqual([]);
      for (const { metricsUrl } of site.gateways)
        expect((await scrape(metricsUrl)).value('ledgerquill_store_up')).toBe(1);
      expect(site.upstream.calls.length).toBeGreaterThan(100);
    });

    it('replace upstream key, API keys, key set and store secret under load: no request fails, no essay is lost', async () => {
      const site = await tAdopted();
      const { write, writeCallers, issuer, upstream } = site;
      const order = (url = site.url) => orderEssay(url);
      const essay = await order();
      expect(essay.text).toContain('Pens hold ink');
      let credentials = ['seeded-api-key-1', await tToken()];
      let turn = 0;
      const load = startLoad(site.url, () => credentials[turn++ % credentials.length] ?? '');
      const fresh = (number: number) => ask(site.url, credentials[0] ?? '', nameOf(tIban(1_000 + number)));

      await load.untilSent(50);
      write('bank-data-api-key', 'seeded-upstream-key-2');
      await vi.waitFor(
        async () => {
          const before = upstream.calls.length;
          for (let number = 0; number < 6; number += 1) await fresh(before * 10 + number);
          const keys = upstream.calls.slice(before).map(({ headers }) => JSON.stringify(headers));
          expect(keys.filter((text) => !text.includes('seeded-upstream-key-2'))).toEqual([]);
        },
        { interval: 200, timeout: 60_000 },
      );

      writeCallers(['seeded-api-key-1', 'seeded-api-key-2']);
      issuer.answers(replyJson(200, { keys: [jwkOf(ec.publicKey, 'k1'), jwkOf(otherEc.publicKey, 'k2')] }));
      const nextToken = await tToken({ header: { kid: 'k2' }, key: otherEc.privateKey });
      for (const key of ['seeded-api-key-2', nextToken])
        for (const { origin } of site.gateways)
          await vi.waitUntil(async () => (await ask(`${origin}/graphql`, key, '{ __typename }')).status === 200, {
            interval: 200,
            timeout: 60_000,
          });
      credentials = ['seeded-api-key-2', nextToken];
      await load.untilSent(50);
      issuer.answers(replyJson(200, { keys: [jwkOf(otherEc.publicKey, 'k2')] }));

      write('store-secret-old', 'seeded-next-secret-of-the-store');
      const reread = (variable: string, count: number) =>
        vi.waitUntil(
          () =>
            site.gateways.every(
              ({ process }) => process.stderr().split(`"variable":"${variable}_FILE"`).length > count,
            ),
          { interval: 50, timeout: 60_000 },
        );
      await reread('STORE_SECRET_OLD', 1);
      write('store-secret', 'seeded-next-secret-of-the-store');
      await reread('STORE_SECRET', 1);
      write('store-secret-old', storeSecret);
      await reread('STORE_SECRET_OLD', 2);
      await load.untilSent(100);
      expect(await order()).toEqual(essay);

      // A gateway that starts now knows both only from the files.
      site.gateways[0].process.kill('SIGTERM');
      await site.gateways[0].process.ended;
      site.gateways[0] = await site.start(0, site.ports[0] ?? 0);
      await load.untilSent(50);
      for (const { origin } of site.gateways) expect(await order(`${origin}/graphql`)).toEqual(essay);
      expect(await load.stop()).toEqual([]);
      expect(upstream.calls.filter(({ method }) => method === 'POST')).toHaveLength(1);
    });

    it('take back an answer and block a caller under load, and keep the rest for a gateway that starts later', async () => {
      const site = await tAdopted();
      const [purged, kept] = [tIban(5_000), tIban(5_001)];
      const endpoints = site.gateways.map(({ origin }) => `${origin}/graphql`);
      const namesOf = (iban: string) =>
        Promise.all(endpoints.map(async (url) => nameIn(await ask(url, 'seeded-api-key-1', nameOf(iban)))));
      expect([await namesOf(purged), await namesOf(kept)]).toEqual([
        ['old', 'old'],
        ['old', 'old'],
      ]);
      const load = startLoad(site.url, () => 'seeded-api-key-1');
      await load.untilSent(50);
      site.rename('new');
      const { metricsUrl } = site.gateways[0];
      const response = await fetch(new URL('/purge', metricsUrl ?? ''), {
        method: 'POST',
        headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ iban: purged }),
      });
      expect(response.status).toBe(200);
      const purgedAt = performance.now();
      const purgeMs = await measureUntil(purgedAt, async () => (await namesOf(purged)).every((name) => name === 'new'));

      const token = await tToken({ sub: 'mallory' });
      for (const url of endpoints) expect((await ask(url, token, '{ __typename }')).status).toBe(200);
      const blockedAt = performance.now();
      site.writeCallers(['seeded-api-key-1'], ['mallory']);
      const statuses = () =>
        Promise.all(endpoints.map(async (url) => (await ask(url, token, '{ __typename }')).status));
      const blockMs = await measureUntil(blockedAt, async () => (await statuses()).every((status) => status === 401));
      process.stdout.write(`purge ${Math.round(purgeMs)} ms, block ${Math.round(blockMs)} ms\n`);

      const later = await site.start(2, await tFreePort());
      const ofLater = async (iban: string) =>
        nameIn(await ask(`${later.origin}/graphql`, 'seeded-api-key-1', nameOf(iban)));
      expect([await ofLater(purged), await ofLater(kept)]).toEqual(['new', 'old']);
      expect(await load.stop()).toEqual([]);
    });
  },
);

/** @returns how long it took, in milliseconds: it is reported, and not compared, because it depends on the load of the machine */
async function measureUntil(since: number, isDone: () => Promise<boolean>): Promise<number> {
  await vi.waitUntil(isDone, { interval: 10, timeout: 60_000 });
  return performance.now() - since;
}
