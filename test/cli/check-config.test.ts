import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createBankLists } from '../../src/banks/bank-lists.ts';
import { isoDateOf } from '../../src/base/calendar-period.ts';
import { tReplace, tReplaceRegister } from '../support/banks/import/imports.ts';
import { runCommand } from '../support/command.ts';
import { ec, jwkOf, jwt } from '../support/gateway/callers.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { expectPing, tRedis, tRedisProcess, whyNoRedis } from '../support/redis.ts';
import { replyJson, tUnusedUrl, tUpstream } from '../support/scripted-upstream.ts';

const key = 'seeded-key';

async function tCheck(env: Record<string, string>, args: readonly string[] = []) {
  const checked = await runCommand(['check-config', ...args], { DATA_DIR: join(tFolder(), 'data'), ...env });
  const { code, stdout: output, stderr } = checked;
  expect(output + stderr).not.toContain('seeded');
  const lineOf = (name: string) => output.match(new RegExp(`^  ${name} +(.*)$`, 'm'))?.[1];
  return { code, output, lineOf, stderr };
}

function tFile(name: string, text: string): string {
  const file = join(tFolder(), name);
  writeFileSync(file, text);
  return file;
}

/** The URL of a server that speaks another protocol. */
async function tMailServer(): Promise<string> {
  const server = createServer((socket) => socket.end('220 mail.example ESMTP\r\n')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('ledgerquill check-config', () => {
  it('prints all variables with their sources, and masks secrets', async () => {
    const secretFile = tFile('key', `${key}-in-file\n`);
    const dotenv = tFile('.env', `ESSAY_URL=${await tUnusedUrl()}\nESSAY_KEEP_DAYS=7\nPORT=1\nESSAY_APIKEY=seeded\n`);
    const env = { PORT: '4100', ESSAY_API_KEY_FILE: secretFile, ROUTER_SECRET: `${key}-${'x'.repeat(32)}` };
    const { lineOf, output } = await tCheck(env, [`--dotenv=${dotenv}`]);
    expect(lineOf('HOST')).toBe('127.0.0.1  (default)');
    expect(lineOf('PORT')).toBe('4100  (environment)');
    expect(lineOf('ESSAY_KEEP_DAYS')).toBe('7  (.env)');
    expect(lineOf('ESSAY_API_KEY')).toBe(`********  (file ${secretFile})`);
    expect(lineOf('ROUTER_SECRET')).toBe('********  (environment)');
    expect(lineOf('SHUTDOWN_TIMEOUT_MS')).toBe('125000  (default)');
    expect(lineOf('INTROSPECTION')).toBe('off  (default)');
    expect(lineOf('CORS_ORIGINS')).toBe('(not set)');
    const names = output.slice(0, output.indexOf('Bank lists')).matchAll(/^ {2}[A-Z_\d]{2,} +/gm);
    expect(new Set([...names].map(([name]) => name.length)).size).toBe(1);
    expect(output).toContain('unknown and ignored: ESSAY_APIKEY (ESSAY_API_KEY?)');
  });

  it('prints the age and the last valid day of every bank list', async () => {
    const { output } = await tCheck({});
    const section = output.slice(output.indexOf('Bank lists\n'), output.indexOf('Checks\n'));
    const rows = section.split('\n').filter((line) => line.startsWith('  '));
    expect(rows.map((line) => line.slice(2, 4))).toEqual(createBankLists().countries());
    expect(section).toMatch(/^ {2}SK .*: OUT OF DATE, import the current file: ledgerquill import-banks SK FILE/m);
    expect(section).toMatch(/^ {2}GR .*: OUT OF DATE, update Ledgerquill {2}\(/m);
    for (const row of rows) expect(row).toMatch(/^ {2}[A-Z]{2} {2}\d{4}-\d\d-\d\d, \d+ days old.*\(.+\)$/);
    expect(section).toMatch(/^ {2}DE {2}.*, valid until 2026-12-06/m);
  });

  it('prints the age of imported lists, also before their first day', async () => {
    const dataDir = tFolder();
    await tReplace(dataDir, ['0100'], { date: '2020-02-29', validUntil: '2020-05-29' });
    await tReplace(dataDir, ['30001'], { country: 'UA', date: '2999-01-01', validUntil: '2999-04-01' });
    const { output } = await tCheck({ DATA_DIR: dataDir });
    const outdated = 'valid until 2020-05-29: OUT OF DATE, import the current file: ledgerquill import-banks CZ FILE';
    expect(output).toMatch(new RegExp(`^ {2}CZ {2}2020-02-29, \\d{4,} days old, ${outdated} {2}\\(Registry\\)$`, 'm'));
    expect(output).toContain('\n  UA  2999-01-01, not yet valid, valid until 2999-04-01  (Registry)\n');
  });

  it('prints the command for a list that ends soon', async () => {
    const [dataDir, day] = [tFolder(), 24 * 60 * 60 * 1_000];
    const validUntil = isoDateOf(Date.now() + 10 * day);
    await tReplace(dataDir, ['0100'], { date: isoDateOf(Date.now() - day), validUntil });
    const { output } = await tCheck({ DATA_DIR: dataDir });
    const command = 'ledgerquill import-banks CZ FILE';
    expect(output).toContain(`valid until ${validUntil}: ends soon, import the next file: ${command}  (Registry)\n`);
  });

  it('prints the imported registers of payment schemes, if there are any', async () => {
    const dataDir = tFolder();
    const title = 'Registers of payment schemes';
    expect((await tCheck({ DATA_DIR: dataDir })).output).not.toContain(title);
    await tReplaceRegister(dataDir, 'SCT_INST', {}, '2026-11-20');
    expect((await tCheck({ DATA_DIR: dataDir })).output).toMatch(
      new RegExp(`^${title}\\n {2}SCT_INST {2}imported on 2026-11-20, \\d+ days old\\nChecks$`, 'm'),
    );
    const { schemeRegisters } = JSON.parse((await tCheck({ DATA_DIR: dataDir }, ['--json'])).output);
    expect(schemeRegisters).toEqual([{ scheme: 'SCT_INST', date: '2026-11-20', daysOld: expect.any(Number) }]);
  });

  it('requests only HEAD / of the upstreams, without a key, and exits with 0 if they respond', async () => {
    const upstream = await tUpstream(replyJson(404, {}));
    const env = { BANK_DATA_API_KEY: key, ESSAY_API_KEY: key, LLM_MODEL: 'm', LLM_API_KEY: key };
    const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: upstream.url, OTEL_EXPORTER_OTLP_HEADERS: `api-key=${key}` };
    const url = `${upstream.url}/v1/paid`;
    const { code, output } = await tCheck({ ...env, ...traces, BANK_DATA_URL: url, ESSAY_URL: url, LLM_URL: url });
    expect(code).toBe(0);
    for (const name of ['BANK_DATA_URL', 'ESSAY_URL', 'LLM_URL', 'OTEL_EXPORTER_OTLP_ENDPOINT']) {
      expect(output).toContain(`  ok      ${name}: ${upstream.url} responded 404 to HEAD / without a key\n`);
    }
    expect(upstream.calls.map(({ method, path }) => `${method} ${path}`)).toEqual(Array(4).fill('HEAD /'));
    expect(JSON.stringify(upstream.calls) + output).not.toContain('seeded');
  });

  it('says that essays are drafts while bank data is paid for', async () => {
    const upstream = await tUpstream(replyJson(404, {}));
    const drafts = '  ok      LLM_URL: not set, essays are drafts from templates; for real essays, set LLM_URL';
    const { code, output } = await tCheck({ BANK_DATA_URL: upstream.url, BANK_DATA_API_KEY: key });
    expect(code).toBe(0);
    expect(output).toContain(drafts);
    expect((await tCheck({})).output).not.toContain('drafts');
  });

  it('says that essays are guessed in the responses of a service without a declared field', async () => {
    const upstream = await tUpstream(replyJson(404, {}));
    const env = { ESSAY_URL: upstream.url, ESSAY_API_KEY: key };
    const guessed = '  ok      ESSAY_TEXT_FIELD: not set, essays are guessed in responses; to see the right value,';
    const { code, output } = await tCheck(env);
    expect([code, output.includes(guessed)]).toEqual([0, true]);
    const declared = await tCheck({ ...env, ESSAY_TEXT_FIELD: 'data.text,data.rest[0]' });
    expect(declared.lineOf('ESSAY_TEXT_FIELD')).toBe('data.text,data.rest[0]  (environment)');
    for (const { output } of [declared, await tCheck({})]) expect(output).not.toContain('guessed in');
  });

  it('describes every server that does not respond, and exits with 1', async () => {
    const unused = await tUnusedUrl();
    const upstream = await tUpstream(replyJson(503, {}));
    const mailServer = await tMailServer();
    const keys = { BANK_DATA_API_KEY: key, ESSAY_API_KEY: key, STORE_SECRET: `${key}-of-the-store` };
    const redisUrl = `redis://user:${key}@${new URL(unused).host}`;
    const llm = { LLM_URL: upstream.url.replace('http:', 'https:'), LLM_MODEL: 'm' };
    const others = { BANK_DATA_URL: unused, ESSAY_URL: upstream.url, OTEL_EXPORTER_OTLP_ENDPOINT: mailServer };
    const { code, output, lineOf } = await tCheck({ ...keys, ...llm, ...others, REDIS_URL: redisUrl });
    expect(code).toBe(1);
    expect(lineOf('REDIS_URL')).toBe(`redis://********@${new URL(unused).host}/0  (environment)`);
    expect(output).toContain(`FAILED  BANK_DATA_URL: ${unused}: nothing listens there; check host and port`);
    expect(output).toContain('responded 503 to HEAD / without a key: the service behind it is not available');
    expect(output).toMatch(/FAILED {2}LLM_URL: .*: TLS fails; check https:\/\//);
    expect(output).toMatch(/FAILED {2}OTEL_\w+: .* the server does not respond to HTTP; check the port/);
    expect(output).toMatch(/FAILED {2}REDIS_URL: .* did not respond to INFO \(ECONNREFUSED\)/);
  });

  it.each([
    [{ DATA_DIR: '/proc/nope' }, 'FAILED  DATA_DIR: must be a folder in which user'],
    [{ GATEWAY_API_KEYS_FILE: '/missing.json' }, 'FAILED  GATEWAY_API_KEYS_FILE: the file cannot be read (ENOENT)'],
    [{ TRUSTED_DOCUMENTS: '/missing.json' }, 'FAILED  TRUSTED_DOCUMENTS: /missing.json cannot be read (ENOENT)'],
  ])('exits with 1 if the gateway would not start: %j', async (env, problem) => {
    const { code, output } = await tCheck(env);
    expect(code).toBe(1);
    expect(output).toContain(problem);
    expect(output).toContain('  ok      ESSAY_URL: not set');
  });

  it('checks DATA_DIR with Redis, too, if the audit trail is written to it', async () => {
    const upstream = await tUpstream(replyJson(404, {}));
    const REDIS_URL = (await tUnusedUrl()).replace('http:', 'redis:');
    const env = { REDIS_URL, STORE_SECRET: `${key}-of-the-store`, BANK_DATA_URL: upstream.url, BANK_DATA_API_KEY: key };
    expect((await tCheck(env)).output).toContain('  ok      DATA_DIR: the audit trail can be written to it\n');
    const missing = { ...env, DATA_DIR: '/proc/nope' };
    expect((await tCheck(missing)).output).toContain('  FAILED  DATA_DIR: must be a folder in which user');
    const { output } = await tCheck({ ...missing, AUDIT_DAYS: '0' });
    expect(output).toContain('  ok      DATA_DIR: not written to, because REDIS_URL is set\n');
  });

  it('describes invalid values, with --json also in a document', async () => {
    const problem = 'PORT: must be a whole number from 0 to 65535, but is "http"';
    const invalid = { code: 1, stderr: expect.stringContaining(problem) };
    expect(await tCheck({ PORT: 'http' })).toMatchObject({ ...invalid, output: '' });
    const { output, ...rest } = await tCheck({ PORT: 'http' }, ['--json']);
    expect(rest).toMatchObject(invalid);
    expect(JSON.parse(output)).toEqual({ ok: false, problems: [problem] });
  });

  it('prints the same as one JSON document with --json', async () => {
    const upstream = await tUpstream(replyJson(503, {}));
    const secrets = { BANK_DATA_API_KEY: key, ROUTER_SECRET: `${key}-${'x'.repeat(32)}` };
    const env = { BANK_DATA_URL: upstream.url, ...secrets, ESSAY_APIKEY: 'seeded' };
    const text = await tCheck(env);
    const { code, output, stderr } = await tCheck(env, ['--json']);
    const { ok, problems, configuration, unknownVariables, bankLists, checks } = JSON.parse(output);
    expect([code, stderr, ok, problems]).toEqual([text.code, text.stderr, false, []]);
    for (const { name, value, source } of configuration) {
      if (name !== 'DATA_DIR') expect(text.lineOf(name)).toBe(value === null ? '(not set)' : `${value}  (${source})`);
    }
    expect(configuration).toContainEqual({ name: 'ROUTER_SECRET', value: '********', source: 'environment' });
    expect(configuration).toContainEqual({ name: 'ESSAY_URL', value: null, source: 'default' });
    expect(unknownVariables).toEqual(['ESSAY_APIKEY (ESSAY_API_KEY?)']);
    for (const { country, date, daysOld, validUntil, outdated } of bankLists) {
      expect(text.output).toContain(`  ${country}  ${date}, `);
      expect(daysOld).toBeGreaterThan(0);
      const line = text.output.split('\n').find((each) => each.startsWith(`  ${country}  `));
      expect(line?.includes(': OUT OF DATE')).toBe(outdated);
      if (validUntil) expect(line).toContain(`valid until ${validUntil}`);
    }
    expect(bankLists).toHaveLength(44);
    for (const check of checks)
      expect(text.output).toContain(`  ${check.ok ? 'ok    ' : 'FAILED'}  ${check.description}\n`);
    expect(checks.map((check: { ok: boolean }) => check.ok)).toEqual([true, false, true, true]);
  });

  // Tests of the stores check the same with Sentinels and with a cluster.
  it.skipIf(whyNoRedis)(`sends INFO to a server${whyNoRedis}`, async () => {
    await expectPing(await tRedis({ password: key }), '127.0.0.1', key);
  });

  it.skipIf(whyNoRedis)(`warns of settings with which Redis loses what is paid for${whyNoRedis}`, async () => {
    const lossy = await tRedisProcess(['--maxmemory-policy', 'allkeys-lru']);
    const env = { STORE_SECRET: `${key}-of-the-store` };
    const { code, output } = await tCheck({ ...env, REDIS_URL: lossy.url });
    expect(code).toBe(0);
    expect(output).toMatch(/^ {2}WARN {4}REDIS_URL: by its maxmemory-policy, .*; set it to noeviction$/m);
    expect(output).toMatch(/^ {2}WARN {4}REDIS_URL: appendonly is no, .*; set it to yes$/m);
    const safe = await tRedisProcess([], { isDurable: true });
    expect((await tCheck({ ...env, REDIS_URL: safe.url })).output).not.toContain('WARN');
  });

  it('reads the key set of the token issuer', async () => {
    const issuer = await tUpstream(replyJson(200, { keys: [jwkOf(ec.publicKey, 'k1')] }));
    const env = { ...jwt, JWT_JWKS_URL: `${issuer.url}/keys` };
    const right = await tCheck(env);
    expect([right.code, right.output]).toEqual([
      0,
      expect.stringContaining(`ok      JWT_JWKS_URL: ${issuer.url}/keys has keys for signatures`),
    ]);
    issuer.answers(replyJson(200, { keys: [] }));
    const empty = await tCheck(env);
    expect([empty.code, empty.output]).toEqual([1, expect.stringMatching(/FAILED {2}JWT_JWKS_URL: .* no public key/)]);
    const missing = await tCheck({ ...env, JWT_JWKS_URL: await tUnusedUrl() });
    expect(missing.output).toMatch(/FAILED {2}JWT_JWKS_URL: .*: nothing listens there; .*\(ECONNREFUSED\)/);
  });

  it.each([
    ['rediss-sentinel', 'a,[::1]:7000', '/3#main', 'a:26379,[::1]:7000'],
    ['redis-cluster', 'a:1,b', '', 'a:1,b:6379'],
  ])('masks the password in a URL of %s', async (scheme, hosts, path, shown) => {
    const REDIS_URL = `${scheme}://user:${key}@${hosts}${path}`;
    const { output, lineOf } = await tCheck({ REDIS_URL, STORE_SECRET: `${key}-of-the-store` });
    expect(lineOf('REDIS_URL')).toBe(`${scheme}://********@${shown}${path}  (environment)`);
    expect(output).toContain(`FAILED  REDIS_URL: ${shown} did not respond to INFO (`);
    expect(output).not.toContain(key);
  });
});
