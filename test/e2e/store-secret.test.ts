import { copyFileSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openLmdbFile } from '../../src/base/lmdb-file.ts';
import { createLmdbStore } from '../../src/gateway/stores/lmdb-store.ts';
import { createSealing, withSecretCheck } from '../../src/gateway/stores/sealed-store.ts';
import { type CommandResult, runCommand, runFailingStart } from '../support/command.ts';
import { tRecordingEssayService } from '../support/e2e/recording-essay-service.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { tGateway } from '../support/gateway.ts';
import {
  noUpstreams,
  orderMutation,
  orderVariables,
  tCommand,
  tGatewayProcess,
  untilReady,
} from '../support/process.ts';
import { type TRedis, tRedis, whyNoRedis } from '../support/redis.ts';

/* A gateway whose secret is not the one of its store. */

const [ours, theirs] = ['seeded-secret-of-the-store', 'seeded-secret-of-others'];

/** A folder with an embedded store that was written with another secret. */
async function tOtherStore(): Promise<string> {
  const folder = tFolder();
  const store = withSecretCheck(
    createLmdbStore({ folder }),
    createSealing(() => theirs),
  );
  await store.add('calls', 1, { expiresInMs: 3_600_000 });
  await store.close();
  return folder;
}

async function tRun(run: (env: Record<string, string>) => Promise<CommandResult>, env: Record<string, string>) {
  const result = await run({ ...noUpstreams, PORT: '0', ...env });
  expect(result.stdout + result.stderr).not.toContain('seeded');
  return result;
}

const tFailingStart = (env: Record<string, string>) => tRun(runFailingStart, env);
const tCheckConfig = (env: Record<string, string>) => tRun((all) => runCommand(['check-config'], all), env);

describe('a store that has lost its data', () => {
  const storeOf = (folder: string) => join(folder, 'store-1.lmdb');

  it.each<[string, (path: string) => unknown, RegExp]>([
    [
      'was emptied',
      (path) => truncateSync(path, 0),
      /store-1\.lmdb is empty, but was created before: restore a backup/,
    ],
    ['was deleted', (path) => rmSync(path), /store-1\.lmdb is missing, but was created before: restore a backup/],
    ['was cut off', (path) => truncateSync(path, statSync(path).size / 2), /store-1\.lmdb is damaged/],
    [
      'was replaced by that of another secret',
      async (path) => copyFileSync(storeOf(await tOtherStore()), path),
      /STORE_SECRET: is not the secret with which/,
    ],
    [
      'was replaced by one that nothing was written to',
      async (path) => {
        rmSync(path);
        await openLmdbFile(path).close();
      },
      /store-1\.lmdb has lost what was written to it: restore a backup/,
    ],
  ])('prevents the start if it %s, each time, and nothing is paid for again', async (_, lose, problem) => {
    const env = { DATA_DIR: tFolder(), STORE_SECRET: ours };
    const written = await tGatewayProcess(env);
    await written.order('Pens', 'form-1');
    written.process.kill('SIGTERM');
    await written.process.ended;
    await lose(storeOf(env.DATA_DIR));
    for (const run of [tFailingStart, tFailingStart]) {
      const { code, stdout, stderr } = await run(env);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(problem);
    }
    expect((await tCheckConfig(env)).stdout).toMatch(/^ {2}FAILED {2}(?:DATA_DIR|STORE_SECRET)/m);
  });
});

describe('a store of another secret', () => {
  it('prevents the start until it is replaced on purpose', async () => {
    const env = { DATA_DIR: await tOtherStore(), STORE_SECRET: ours };
    const refused = await tFailingStart(env);
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toMatch(/^The configuration is invalid:\n {2}STORE_SECRET: is not the secret with which/m);
    expect(refused.stderr).toContain('`ledgerquill store new`');

    const replaced = await runCommand(['store', 'new'], { ...noUpstreams, ...env });
    expect(replaced).toMatchObject({ code: 0, stderr: '' });
    expect(replaced.stdout).toMatch(/^The old store is now .* what is ordered again is paid for again\.\n$/);
    const started = tCommand(['start'], { ...noUpstreams, PORT: '0', ...env });
    await untilReady(started);
    started.kill('SIGTERM');
    expect(await started.ended).toEqual({ code: 0, signal: null });
    expect(readdirSync(env.DATA_DIR).filter((name) => name.includes('.until-'))).toHaveLength(1);
    expect((await tCheckConfig(env)).stdout).toContain('ok      DATA_DIR: files can be created in it');
  });

  it('is reported by check-config, which changes nothing', async () => {
    const DATA_DIR = await tOtherStore();
    const { code, stdout } = await tCheckConfig({ DATA_DIR, STORE_SECRET: ours });
    expect(code).toBe(1);
    expect(stdout).toContain('FAILED  STORE_SECRET: is not the secret with which');
    const right = await tCheckConfig({ DATA_DIR, STORE_SECRET: theirs });
    expect(right.stdout).toContain('ok      DATA_DIR: files can be created in it');
  });
});

/** Writes to a Redis with another secret. */
async function writeOther({ url }: TRedis): Promise<void> {
  const gateway = tGateway({ env: { REDIS_URL: url, STORE_SECRET: theirs } });
  await gateway.listen();
  await gateway.close();
}

describe.skipIf(whyNoRedis)(`a Redis of another secret${whyNoRedis}`, () => {
  it('that is connected later is not used: orders with an idempotency key cost nothing', async () => {
    const redis = await tRedis({ isDurable: true });
    await writeOther(redis);
    await redis.stop();
    const service = await tRecordingEssayService({ write: async () => {} });
    const gateway = tGateway({ essaysUrl: service.url, env: { REDIS_URL: redis.url, STORE_SECRET: ours } });
    const origin = await gateway.listen();
    await redis.restart();
    const readiness = async () => (await fetch(`${origin}/ready`)).json();
    await expect.poll(readiness, { interval: 20 }).toMatchObject({ storeFailure: 'wrong-secret' });
    const { data } = await gateway.ask(orderMutation, orderVariables('Pens', 'form-1'));
    expect(data?.generateEssay).toEqual({ message: expect.stringContaining('cannot make sure') });
    expect(service.calls).toHaveLength(0);
    expect(gateway.log()).toMatch(/"level":50.*"failure":"unreachable"/);
    expect(gateway.log()).toMatch(/"level":50.*written with another STORE_SECRET/);
  });
});
