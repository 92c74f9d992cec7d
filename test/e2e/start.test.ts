import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { replaceImport } from '../../src/banks/import/replace-import.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { tGateway } from '../support/gateway.ts';
import { tFreePort } from '../support/loopback.ts';
import {
  noUpstreams,
  orderMutation,
  orderVariables,
  tCommand,
  tGatewayProcess,
  tNpmScript,
  tProcess,
  untilReady,
  whyMissing,
} from '../support/process.ts';
import { replyHeld, replyJson, tUpstream } from '../support/scripted-upstream.ts';

/* The gateway as a process, as new users and orchestrators run it. */

const query = '{ ibanValidation(iban: "DE89370400440532013000") { valid } }';

const whyNoScript = whyMissing('script');

interface LogLine extends Record<string, unknown> {
  level: number;
  msg: string;
}

const readLog = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LogLine);

describe('npm start without any configuration', () => {
  it('serves both services and the examples in GraphiQL, and exits with 0 after SIGTERM', async () => {
    const gateway = tNpmScript('start', { PORT: '0' });
    const { ask } = await untilReady(gateway);
    expect(JSON.parse(gateway.stdout())).toMatchObject({
      level: 30,
      bankData: expect.stringMatching(/^self-hosted/),
      essays: expect.stringMatching(/^self-hosted.*not a language model/),
    });

    const example = readFileSync(new URL('../../scripts/graphiql-example.graphql', import.meta.url), 'utf8');
    expect(await ask(example, {}, 'OneIban')).toEqual({
      ibanValidation: {
        iban: 'DE89370400440532013000',
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
    expect(data.nationalError).toMatchObject({ valid: true, nationalCheck: 'FAILED' });
    const essay = await ask<{ generateEssay: { wordCount: number; text: string } }>(example, {}, 'OrderEssay');
    expect(essay.generateEssay.wordCount).toBeGreaterThan(50);
    expect(essay.generateEssay.wordCount).toBeLessThanOrEqual(250);
    expect(essay.generateEssay.text).toContain('Fountain pens');

    gateway.kill('SIGTERM');
    expect(await gateway.ended).toEqual({ code: 0, signal: null });
    expect(gateway.stderr()).not.toMatch(/"level":[456]0/);
  });

  it('prints the URL of GraphiQL only if it is on', async () => {
    const on = await tGatewayProcess();
    expect(JSON.parse(on.process.stdout()).GraphiQL).toBe(`${on.origin}/graphql`);
    const off = await tGatewayProcess({ GRAPHIQL: 'off', LOG_LEVEL: 'silent' });
    expect(JSON.parse(off.process.stdout()).GraphQL).toBe(`${off.origin}/graphql`);
    expect(off.process.stdout()).not.toContain('GraphiQL');
  });

  it.skipIf(whyNoScript)(`is text for people in a terminal${whyNoScript}`, async () => {
    const gateway = tProcess('script', ['-qec', 'node dist/main.js', '/dev/null'], { PORT: '0' });
    const [text] = await gateway.printed(/Ledgerquill is ready\.[\s\S]* to stop .*/);
    expect(text).toMatch(
      /^Ledgerquill is ready\.\s+GraphiQL {3}http:\S+\/graphql\s+bank data {2}self-hosted.*\s+essays {5}self-hosted.*\s+( +bank lists .*\s+)+to stop {4}SIGTERM/,
    );
    expect(gateway.stdout()).not.toContain('{"level"');
  });
});

describe('the process', () => {
  it('warns at its start of all that an operator should change, and prints URLs of upstreams, never a key', async () => {
    const dataDir = tFolder();
    const list = { country: 'CZ', source: 'Registry', date: '2020-01-01', validUntil: '2020-01-31', isComplete: true };
    await replaceImport(dataDir, { ...list, entries: [] });
    chmodSync(dataDir, 0o777);
    const file = join(tFolder(), '.env');
    writeFileSync(file, 'PORT=none\nBANK_DATA_URL=https://bank.example/v1/\nBANK_DATA_APIKEY=seeded-key\n');
    const preload = 'setInterval(()=>console.error("seeded-key-1",new Error("of DE89370400440532013000")),20).unref()';
    const port = await tFreePort();
    // An empty variable does not hide the one in the file, others do. Options override both.
    const gateway = tCommand(['start', '--dotenv', file, '--port', String(port), '--host', '127.0.0.1'], {
      HOST: 'not a host',
      BANK_DATA_URL: '',
      BANK_DATA_API_KEY: 'seeded-key-1',
      DATA_DIR: dataDir,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preload)}`,
    });
    const { origin } = await untilReady(gateway);
    expect(origin).toBe(`http://127.0.0.1:${port}`);
    expect(JSON.parse(gateway.stdout())).toMatchObject({
      msg: 'Ledgerquill is ready.',
      bankData: 'https://bank.example/v1',
      essays: expect.stringMatching(/^self-hosted/),
      bankLists: expect.stringContaining('the list of CZ ended on 2020-01-31'),
      toStop: 'SIGTERM or Ctrl+C: at most 125 s for active requests',
    });
    const readiness = await fetch(`${origin}/ready`);
    expect([readiness.status, await readiness.json()]).toEqual([200, { status: 'ready', essays: 'drafter' }]);

    const ofLibraries = (line: LogLine) => line.msg === 'a library printed a message';
    const logged = () => readLog(gateway.stderr().replace(/^(?!\{).*\n/gm, ''));
    await vi.waitFor(() => expect(logged().some(ofLibraries)).toBe(true), { timeout: 100_000 });
    const warnings = logged().filter((line) => !ofLibraries(line));
    expect(warnings).toEqual([
      expect.objectContaining({
        msg: 'unknown environment variables are ignored',
        variables: ['BANK_DATA_APIKEY (BANK_DATA_API_KEY?)'],
      }),
      expect.objectContaining({
        msg: expect.stringMatching(/^essays are drafts from templates: for real essays, set LLM_URL/),
      }),
      expect.objectContaining({ msg: expect.stringContaining('can write to DATA_DIR') }),
      expect.objectContaining({
        msg: expect.stringMatching(/^bank lists are out of date: update Ledgerquill, or import newer files/),
        lastValidDays: expect.arrayContaining(['CZ: 2020-01-31']),
      }),
    ]);
    expect(new Set(logged().map(({ level }) => level))).toEqual(new Set([40]));
    const printed = logged().find(ofLibraries);
    expect(printed?.text).toMatch(/^\S+ Error: of \S+\n +at /);
    expect(JSON.stringify(printed)).not.toMatch(/seeded-key|DE89/);
    expect(gateway.stdout()).not.toContain('seeded-key');
  });

  it('changes the level of its log on SIGUSR2 and back, finishes and logs a query after SIGTERM, and exits with 0', async () => {
    const upstream = await tUpstream(replyJson(200, { valid: true }));
    const env = { ...noUpstreams, BANK_DATA_URL: upstream.url };
    const { process: gateway, ask, untilRefused } = await tGatewayProcess(env);
    const changeLevel = async (count: number) => {
      gateway.kill('SIGUSR2');
      const changes = () => gateway.stderr().match(/the level of the log was changed/g)?.length ?? 0;
      await vi.waitFor(() => expect(changes()).toBe(count), { timeout: 100_000 });
    };
    await ask('{ ibanValidation(iban: "FR1420041010050500013M02606") { valid } }');
    expect(gateway.stderr()).not.toContain('"level":20');
    await changeLevel(1);
    await ask('{ ibanValidation(iban: "GB29NWBK60161331926819") { valid } }');
    await changeLevel(2);
    expect(gateway.stderr()).toContain('"level":20');

    const { reply, release } = replyHeld(replyJson(200, { valid: true }));
    upstream.answers(reply);
    const asked = ask(query);
    await upstream.nextCall();
    gateway.kill('SIGTERM');
    await untilRefused();
    expect(gateway.stderr()).toContain('stopping: active requests are finished first');
    release();
    expect(await asked).toEqual({ ibanValidation: { valid: true } });
    expect(await gateway.ended).toEqual({ code: 0, signal: null });
    expect(readLog(gateway.stderr()).at(-1)).toMatchObject({ msg: 'request', status: 200 });
  });

  it('serves queries after SIGTERM beside the next gateway of its DATA_DIR, while /ready responds 503, until a second signal', async () => {
    const DATA_DIR = tFolder();
    const started = await tGatewayProcess({ DATA_DIR, SHUTDOWN_DELAY_MS: '600000' });
    const { process: gateway, origin, ask, order } = started;
    expect(gateway.stdout()).toContain('Ctrl+C: 600 s not ready, then ');
    const readiness = async () => (await fetch(`${origin}/ready`)).status;
    expect(await readiness()).toBe(200);
    gateway.kill('SIGTERM');
    while ((await readiness()) === 200);
    expect(await ask(query)).toEqual({ ibanValidation: { valid: true } });
    const essay = await order('Pens', 'form-1');
    const { data } = await tGateway({ env: { DATA_DIR } }).ask(orderMutation, orderVariables('Pens', 'form-1'));
    expect(data?.generateEssay).toEqual(essay);
    // A signal that follows at once counts as the same one.
    for (const since = performance.now(); performance.now() - since < 200; ) expect(await readiness()).toBe(503);
    gateway.kill('SIGINT');
    expect(await gateway.ended).toEqual({ code: 0, signal: null });
  });

  it('starts on all addresses and without DATA_DIR if Redis is configured, although it is down', async () => {
    const redis = { REDIS_URL: 'redis://127.0.0.1:9', STORE_SECRET: 'seeded-secret-of-the-store' };
    const { origin, ask } = await tGatewayProcess({ ...redis, DATA_DIR: '/proc/nope', HOST: '0.0.0.0' });
    expect(origin).toMatch(/^http:\/\/localhost:\d+$/);
    expect(await ask(query)).toEqual({ ibanValidation: { valid: true } });
    const readiness = await fetch(`${origin}/ready`);
    expect(await readiness.json()).toEqual({ status: 'ready', sharedStore: 'down', storeFailure: 'unreachable' });
  });
});
