import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { serviceAt, tCheck } from '../support/check/check.ts';
import { tListeningGateway } from '../support/gateway/http/listening-gateway.ts';
import { tIban } from '../support/ibans.ts';
import { createRandom, rounds } from '../support/random.ts';
import { type Reply, replyNever, replyWithIban, tUpstream, type UpstreamCall } from '../support/scripted-upstream.ts';
import { tGate } from '../support/turns.ts';

/** Calls at a time. */
const concurrency = 4;
const distinct = 200;
const random = createRandom(20_261_126);

/** Each IBAN about twice, in any order, and some wrong ones. */
const content = [
  'Name;IBAN;BIC',
  ...Array.from({ length: 2 * distinct }, (_, row) => {
    const iban = tIban(row < distinct ? row : random(distinct - 1));
    return `Payee ${row};${row % 33 === 5 ? iban.replace(/.$/, 'X') : iban};${row % 7 === 0 ? 'DEUTDEFF' : ''}`;
  }),
].join('\n');

const ibanOf = ({ query }: UpstreamCall) => query.get('iban_number') ?? '';

describe('a check that is killed', () => {
  it('continues with --resume: no answered IBAN is asked again, and the output is the same, byte for byte', async () => {
    const upstream = await tUpstream(replyWithIban);
    const env = { ...serviceAt(upstream.url), UPSTREAM_CONCURRENCY: String(concurrency) };
    const { run, start, read, path } = tCheck(content);
    await run(['--output', path('whole.csv')], env);
    const asked = new Set(upstream.calls.map(ibanOf));
    expect(upstream.calls).toHaveLength(asked.size);

    const answered: string[] = [];
    const replyRecorded: Reply = (response, call) => {
      answered.push(ibanOf(call));
      return replyWithIban(response, call);
    };
    const args = ['--output', path('killed.csv'), '--resume'];
    const kills = rounds(1);
    for (let kill = 0; kill < kills; kill += 1) {
      // Some are left for the last run.
      let left = 1 + random(Math.floor(distinct / (kills + 1)));
      let held = 0;
      const allHeld = tGate();
      upstream.answers((response, call) => {
        if (left > 0) {
          left -= 1;
          return replyRecorded(response, call);
        }
        held += 1;
        // Each of these calls was made after an answer had arrived, so all answers have.
        if (held === concurrency) allHeld.open();
        return replyNever(response, call);
      });
      const command = start(args, env);
      await allHeld.opened;
      command.kill('SIGKILL');
      expect(await command.ended).toEqual({ code: null, signal: 'SIGKILL' });
      expect(existsSync(path('killed.csv'))).toBe(false);
    }
    upstream.answers(replyRecorded);
    const { code, stderr } = await run(args, env);

    expect(code).toBe(1);
    expect(stderr).toMatch(/\d+ answers of the earlier run/);
    expect(answered.toSorted()).toEqual([...asked].toSorted());
    expect(read('killed.csv')).toBe(read('whole.csv'));
    expect(existsSync(path('killed.csv.journal'))).toBe(false);
    expect(existsSync(path('killed.csv.part'))).toBe(false);
  });

  it('continues on standard output, too: the journal is in DATA_DIR', async () => {
    const upstream = await tUpstream(replyWithIban);
    const env = { ...serviceAt(upstream.url), UPSTREAM_CONCURRENCY: '1' };
    const { run, start } = tCheck(content);
    const whole = await run([], env);
    const calls = upstream.calls.length;

    let left = 20;
    const held = tGate();
    upstream.answers((response, call) => {
      left -= 1;
      if (left >= 0) return replyWithIban(response, call);
      held.open();
      return replyNever(response, call);
    });
    const command = start([], env);
    await held.opened;
    command.kill('SIGKILL');
    await command.ended;
    upstream.answers(replyWithIban);
    expect((await run([], env)).stderr).toContain('add --resume');
    const resumed = await run(['--resume'], env);
    expect(resumed.stdout).toBe(whole.stdout);
    // One of them was not answered.
    expect(upstream.calls).toHaveLength(2 * calls + 1);
  });
});

it('a check that is killed beside a gateway costs no call twice: the gateway completes what was sent, and keeps it', async () => {
  const upstream = await tUpstream(replyWithIban);
  const gateway = await tListeningGateway({ UPSTREAM_CONCURRENCY: '4', MAX_IBANS_PER_QUERY: '50' }, upstream);
  const { run, start, read, path } = tCheck(content);
  const args = ['--gateway', gateway.origin, '--output', path('killed.csv'), '--resume'];
  const held: (() => void)[] = [];
  let left = 70;
  const allHeld = tGate();
  upstream.answers((response, call) => {
    left -= 1;
    if (left >= 0) return replyWithIban(response, call);
    held.push(() => void replyWithIban(response, call));
    if (held.length === 4) allHeld.open();
  });
  const command = start(args);
  await allHeld.opened;
  command.kill('SIGKILL');
  await command.ended;
  await expect.poll(() => gateway.log().match(/"status":499/g)?.length ?? 0).toBeGreaterThanOrEqual(1);
  upstream.answers(replyWithIban);
  for (const release of held.splice(0)) release();
  expect((await run(args)).code).toBe(1);
  const asked = upstream.calls.map(ibanOf);
  expect(asked).toHaveLength(new Set(asked).size);
  await run(['--gateway', gateway.origin, '--output', path('whole.csv')]);
  expect(read('killed.csv')).toBe(read('whole.csv'));
  expect(upstream.calls).toHaveLength(asked.length);
});

it('a check that is stopped by a signal waits for the calls it has sent, and keeps their answers', async () => {
  const upstream = await tUpstream(replyWithIban);
  const env = { ...serviceAt(upstream.url), UPSTREAM_CONCURRENCY: '2' };
  const { run, start, path } = tCheck(content);
  const held: (() => void)[] = [];
  const allHeld = tGate();
  upstream.answers((response, call) => {
    held.push(() => void replyWithIban(response, call));
    if (held.length === 2) allHeld.open();
  });
  const command = start(['--output', path('out.csv')], env);
  await allHeld.opened;
  command.kill('SIGINT');
  const stopped = command.ended;
  upstream.answers(replyWithIban);
  for (const release of held) release();
  expect(await stopped).toEqual({ code: 2, signal: null });
  expect(command.stderr()).toContain('the run was interrupted; nothing was lost: run the same command with --resume');
  expect(existsSync(path('out.csv.part'))).toBe(false);
  const before = upstream.calls.length;
  const { stderr } = await run(['--output', path('out.csv'), '--resume'], env);
  expect(stderr).toContain(`${before} answers of the earlier run`);
  expect(new Set(upstream.calls.map(ibanOf)).size).toBe(upstream.calls.length);
});

it('a check whose output is closed by its reader asks nothing more', async () => {
  const upstream = await tUpstream(replyWithIban);
  const repeated = `${tIban(0)};${'x'.repeat(50)}\n`.repeat(6_000);
  const others = Array.from({ length: 20_000 }, (_, row) => `${tIban(row)};x\n`).join('');
  const { file, dataDir } = tCheck(`IBAN;Text\n${repeated}${others}`);
  const env = { PATH: process.env.PATH ?? '', DATA_DIR: dataDir, ENV_FILE: '', ...serviceAt(upstream.url) };
  const child = spawn(process.execPath, ['dist/cli/ledgerquill.js', 'check', file], { env });
  let stderr = '';
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  await once(child.stdout, 'data');
  child.stdout.destroy();
  const [code] = await once(child, 'close');
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining('the reader of the output has closed it'),
  });
  expect(upstream.calls.length).toBeLessThan(15_000);
});

it('a check by the embedded service that is stopped by a signal keeps the lists that were answered', async () => {
  const rows = 40_000;
  const { run, start, read, path } = tCheck(
    `IBAN\n${Array.from({ length: rows }, (_, row) => tIban(row)).join('\n')}\n`,
  );
  const args = ['--output', path('out.csv'), '--resume'];
  const command = start(args);
  const answers = () => read('out.csv.journal').split('\n').length - 2;
  await expect.poll(() => existsSync(path('out.csv.journal')) && answers() > 0).toBe(true);
  command.kill('SIGTERM');
  expect(await command.ended).toEqual({ code: 2, signal: null });
  const kept = answers();
  expect(kept % 200).toBe(0);
  const { code, stderr } = await run(args);
  expect(code).toBe(0);
  expect(stderr).toContain(
    `${(rows - kept).toLocaleString('en')} IBANs looked up, ${kept.toLocaleString('en')} answers of the earlier run`,
  );
});
