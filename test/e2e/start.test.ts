import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { replaceImport } from '../../src/banks/import/replace-import.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { noUpstreams, tGatewayProcess, untilReady } from '../support/gateway-process.ts';
import { tCommand, tProcess } from '../support/process.ts';
import { replyHeld, replyJson, tUpstream } from '../support/scripted-upstream.ts';

/* The gateway as a process, as new users and orchestrators run it. */

describe('npm start without any configuration', () => {
  it('serves both services and the examples in GraphiQL, and exits with 0 after SIGTERM', async () => {
    const gateway = tProcess('npm', ['start'], { PORT: '0' });
    const { ask } = await untilReady(gateway);
    expect(gateway.stdout()).toMatch(/bank data +self-hosted/);
    expect(gateway.stdout()).toMatch(/essays +self-hosted.*not a language model/);

    const example = readFileSync(new URL('../../scripts/graphiql-example.graphql', import.meta.url), 'utf8');
    expect(await ask(example, {}, 'OneIban')).toEqual({
      ibanValidation: {
        valid: true,
        problems: [],
        country: { name: 'Germany' },
        ibanData: { bankCode: '37040044', accountNumber: '0532013000' },
        bankData: { name: 'Commerzbank', bic: 'COBADEFFXXX' },
      },
    });
    const data = await ask<Record<string, object>>(example, {}, 'TypingErrors');
    expect(data.typingError).toMatchObject({
      valid: false,
      suggestions: expect.arrayContaining(['DE89370400440532013000']),
    });
    expect(data.nationalError).toEqual({ valid: true, nationalCheck: 'FAILED' });
    const essay = await ask<{ generateEssay: { wordCount: number; text: string } }>(example, {}, 'OrderEssay');
    expect(essay.generateEssay.wordCount).toBeGreaterThan(50);
    expect(essay.generateEssay.wordCount).toBeLessThanOrEqual(250);
    expect(essay.generateEssay.text).toContain('Fountain pens');

    gateway.kill('SIGTERM');
    expect(await gateway.ended).toEqual({ code: 0, signal: null });
    expect(gateway.stderr()).not.toMatch(/"level":[456]0/);
  });
});

describe('the process', () => {
  const query = '{ ibanValidation(iban: "DE89370400440532013000") { valid } }';

  it('prints the URLs of its upstreams, never a key', async () => {
    const { process: gateway } = await tGatewayProcess({ ...noUpstreams, BANK_DATA_URL: 'https://bank.example/v1/' });
    expect(gateway.stdout()).toMatch(
      /bank data +https:\/\/bank\.example\/v1\n +essays +http:\/\/127\.0\.0\.1:9\n.*\n$/,
    );
    expect(gateway.stdout()).toContain('  to stop    SIGTERM or Ctrl+C: at most 125 s for active requests\n');
    expect(gateway.stdout() + gateway.stderr()).not.toContain('seeded-key');
  });

  it('says at its start and in /ready that essays are drafts while bank data is paid for', async () => {
    const { ESSAY_URL, ESSAY_API_KEY, ...env } = noUpstreams;
    const { process: gateway, origin } = await tGatewayProcess(env);
    expect(JSON.parse(gateway.stderr())).toMatchObject({
      level: 40,
      msg: expect.stringMatching(/^essays are drafts from templates: for real essays, set LLM_URL/),
    });
    const readiness = await fetch(`${origin}/ready`);
    expect(readiness.status).toBe(200);
    expect(await readiness.json()).toEqual({ status: 'ready', essays: 'drafter' });
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('finishes and logs a query after %s, then exits with 0', async (signal) => {
    const { reply, release } = replyHeld(replyJson(200, { valid: true }));
    const upstream = await tUpstream(reply);
    const {
      process: gateway,
      ask,
      untilRefused,
    } = await tGatewayProcess({ ...noUpstreams, BANK_DATA_URL: upstream.url });
    const asked = ask(query);
    await upstream.nextCall();
    gateway.kill(signal);
    await untilRefused();
    expect(JSON.parse(gateway.stderr())).toMatchObject({ msg: 'stopping: active requests are finished first' });
    release();
    expect(await asked).toEqual({ ibanValidation: { valid: true } });
    expect(await gateway.ended).toEqual({ code: 0, signal: null });
    expect(gateway.stderr()).toContain('"msg":"request"');
  });

  it('serves queries after SIGTERM, while /ready responds 503, until a second signal', async () => {
    const { process: gateway, origin, ask } = await tGatewayProcess({ SHUTDOWN_DELAY_MS: '600000' });
    expect(gateway.stdout()).toContain('Ctrl+C: 600 s not ready, then ');
    const readiness = async () => (await fetch(`${origin}/ready`)).status;
    expect(await readiness()).toBe(200);
    gateway.kill('SIGTERM');
    while ((await readiness()) === 200);
    expect(await ask(query)).toEqual({ ibanValidation: { valid: true } });
    // A signal that follows at once counts as the same one.
    for (const since = performance.now(); performance.now() - since < 200; ) expect(await readiness()).toBe(503);
    gateway.kill('SIGTERM');
    expect(await gateway.ended).toEqual({ code: 0, signal: null });
  });

  it('reads variables from a file, and warns of unknown ones without their values', async () => {
    const file = join(tFolder(), '.env');
    writeFileSync(
      file,
      'ESSAY_URL=http://127.0.0.1:10\nBANK_DATA_URL=http://127.0.0.1:10\nBANK_DATA_APIKEY=seeded-key\n',
    );
    const { BANK_DATA_URL, ...env } = noUpstreams;
    // An empty variable does not hide the one in the file.
    const gateway = tCommand(['start', '--dotenv', file], { PORT: '0', BANK_DATA_URL: '', ...env });
    await gateway.printed(/bank data +http:\/\/127\.0\.0\.1:10\n +essays +http:\/\/127\.0\.0\.1:9\n/);
    gateway.kill('SIGTERM');
    await gateway.ended;
    const lines = gateway.stderr().trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      {
        level: 40,
        msg: 'unknown environment variables are ignored',
        variables: ['BANK_DATA_APIKEY (BANK_DATA_API_KEY?)'],
      },
      { level: 30, msg: 'stopping: active requests are finished first' },
    ]);
  });

  it('warns of a bank list that is past its last valid day', async () => {
    const dataDir = tFolder();
    const validUntil = '2020-01-31';
    const list = { country: 'CZ', source: 'Registry', date: '2020-01-01', validUntil, isComplete: true, entries: [] };
    await replaceImport(dataDir, list);
    const { process: gateway } = await tGatewayProcess({ ...noUpstreams, DATA_DIR: dataDir });
    const line = JSON.parse(gateway.stderr().split('\n')[0] ?? '');
    expect(line.level).toBe(40);
    expect(line.lastValidDays).toContain('CZ: 2020-01-31');
    expect(line.msg).toMatch(/^bank lists are out of date: update Ledgerquill, or import newer files/);
  });

  it('warns of a DATA_DIR to which every user of the machine can write', async () => {
    const dataDir = tFolder();
    chmodSync(dataDir, 0o777);
    const { process: gateway } = await tGatewayProcess({ ...noUpstreams, DATA_DIR: dataDir });
    const line = JSON.parse(gateway.stderr().split('\n')[0] ?? '');
    expect(line).toMatchObject({ level: 40, msg: expect.stringContaining('can write to DATA_DIR') });
  });

  it('changes the level of its log on SIGUSR2, and back on the next one', async () => {
    const { process: gateway, ask } = await tGatewayProcess({ SHUTDOWN_DELAY_MS: '0' });
    const levels = () =>
      gateway
        .stderr()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line).level);
    await ask(query);
    expect(levels()).not.toContain(20);
    gateway.kill('SIGUSR2');
    await vi.waitFor(() => expect(gateway.stderr()).toContain('the level of the log was changed'), { timeout: 20_000 });
    await ask('{ ibanValidation(iban: "GB29NWBK60161331926819") { valid } }');
    gateway.kill('SIGUSR2');
    await vi.waitFor(() => expect(gateway.stderr().match(/was changed/g)).toHaveLength(2), { timeout: 20_000 });
    expect(levels()).toContain(20);
  });

  it('logs what libraries print, redacted', async () => {
    const preload = 'setInterval(()=>console.error("seeded-key-1",new Error("of DE89370400440532013000")),20).unref()';
    const options = `--import=data:text/javascript,${encodeURIComponent(preload)}`;
    const { process: gateway } = await tGatewayProcess({ ...noUpstreams, NODE_OPTIONS: options });
    const logged = () =>
      gateway
        .stderr()
        .split('\n')
        .filter((line) => line.startsWith('{'));
    await vi.waitFor(() => expect(logged().length).toBeGreaterThan(0), { timeout: 20_000 });
    const line = JSON.parse(logged()[0] ?? '');
    expect(line).toMatchObject({ level: 40, msg: 'a library printed a message' });
    expect(line.text).toMatch(/^\S+ Error: of \S+\n +at /);
    expect(logged()[0]).not.toMatch(/seeded-key|DE89/);
  });

  it('starts and answers without DATA_DIR if Redis is configured, although it is down', async () => {
    const redis = { REDIS_URL: 'redis://127.0.0.1:9', STORE_SECRET: 'seeded-secret-of-the-store' };
    const { origin, ask } = await tGatewayProcess({ ...redis, DATA_DIR: '/proc/nope' });
    expect(await ask(query)).toEqual({ ibanValidation: { valid: true } });
    const readiness = await fetch(`${origin}/ready`);
    expect(await readiness.json()).toEqual({ status: 'ready', sharedStore: 'down', storeFailure: 'unreachable' });
  });

  it('prints an address that works if it listens on all addresses', async () => {
    const { origin, ask } = await tGatewayProcess({ HOST: '0.0.0.0', SHUTDOWN_DELAY_MS: '0' });
    expect(origin).toMatch(/^http:\/\/localhost:\d+$/);
    expect(await ask(query)).toEqual({ ibanValidation: { valid: true } });
  });
});
