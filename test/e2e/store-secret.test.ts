import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { createLmdbStore } from '../../src/gateway/stores/lmdb-store.ts';
import { withSecretCheck } from '../../src/gateway/stores/sealed-store.ts';
import { tRecordingEssayService } from '../support/e2e/recording-essay-service.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { noUpstreams, tGatewayProcess, untilReady } from '../support/gateway-process.ts';
import { tCommand } from '../support/process.ts';
import { type TRedis, tRedis, whyNoRedis, withClient } from '../support/redis.ts';

/* The process of a gateway whose secret is not the one of its store. */

const [ours, theirs] = ['seeded-secret-of-the-store', 'seeded-secret-of-others'];

/** A folder with an embedded store that was written with another secret. */
async function tOtherStore(): Promise<string> {
  const folder = tFolder();
  const store = withSecretCheck(createLmdbStore({ folder }), () => theirs);
  await store.add('calls', 1, { expiresInMs: 3_600_000 });
  await store.close();
  return folder;
}

async function tRun(args: readonly string[], env: Record<string, string>) {
  const command = tCommand(args, { ...noUpstreams, PORT: '0', ...env });
  const { code } = await command.ended;
  expect(command.stdout() + command.stderr()).not.toContain('seeded');
  return { code, stdout: command.stdout(), stderr: command.stderr() };
}

describe('a store of another secret', () => {
  it('prevents the start until it is replaced on purpose', async () => {
    const env = { DATA_DIR: await tOtherStore(), STORE_SECRET: ours };
    const refused = await tRun(['start'], env);
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toMatch(/^The configuration is invalid:\n {2}STORE_SECRET: is not the secret with which/m);
    expect(refused.stderr).toContain('`ledgerquill start --new-store`');

    const started = tCommand(['start', '--new-store'], { ...noUpstreams, PORT: '0', ...env });
    await untilReady(started);
    expect(started.stdout()).toMatch(
      /^--new-store: the old store is now .* what is ordered again is paid for again\.\n/,
    );
    started.kill('SIGTERM');
    expect(await started.ended).toEqual({ code: 0, signal: null });
    expect(readdirSync(env.DATA_DIR).filter((name) => name.includes('.until-'))).toHaveLength(2);

    const again = tCommand(['start'], { ...noUpstreams, PORT: '0', ...env });
    await untilReady(again);
  });

  it('prevents the start if it was the generated one, which is missing', async () => {
    const DATA_DIR = await tOtherStore();
    for (const args of [['start'], ['check-config']]) {
      const { code, stdout, stderr } = await tRun(args, { DATA_DIR });
      expect(code).toBe(1);
      expect(stdout + stderr).toContain(`DATA_DIR: ${join(DATA_DIR, 'store-secret')} is missing`);
    }
    expect(readdirSync(DATA_DIR).sort()).toEqual(['store-1.lmdb', 'store-1.lmdb-lock']);
  });

  it('is reported by check-config, which changes nothing', async () => {
    const DATA_DIR = await tOtherStore();
    const { code, stdout } = await tRun(['check-config'], { DATA_DIR, STORE_SECRET: ours });
    expect(code).toBe(1);
    expect(stdout).toContain('FAILED  STORE_SECRET: is not the secret with which');
    const right = await tRun(['check-config'], { DATA_DIR, STORE_SECRET: theirs });
    expect(right.stdout).toContain('ok      DATA_DIR: files can be created in it');
  });
});

async function keysOf(redis: TRedis): Promise<string[]> {
  let keys: string[] = [];
  await withClient(redis, async (client) => {
    keys = await client.keys('*');
  });
  return keys;
}

describe.skipIf(whyNoRedis)(`a Redis of another secret${whyNoRedis}`, { timeout: 60_000 }, () => {
  it('prevents the start, and check-config reports it without a write', async () => {
    const redis = await tRedis();
    const env = { REDIS_URL: redis.url, DATA_DIR: join(tFolder(), 'none') };
    const empty = await tRun(['check-config'], { ...env, STORE_SECRET: ours });
    expect(empty.stdout).toContain('ok      STORE_SECRET: Redis has no check value of another secret');
    expect(await keysOf(redis)).toEqual([]);
    const { process: other } = await tGatewayProcess({ ...noUpstreams, ...env, STORE_SECRET: theirs });
    const refused = await tRun(['start'], { ...env, STORE_SECRET: ours });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('STORE_SECRET: is not the secret with which the data in Redis');
    const reported = await tRun(['check-config'], { ...env, STORE_SECRET: ours });
    expect(reported.stdout).toContain('FAILED  STORE_SECRET: is not the secret with which the data in Redis');
    other.kill('SIGTERM');
    expect((await other.ended).code).toBe(0);
  });

  it('that is connected later is not used: orders with an idempotency key cost nothing', async () => {
    const redis = await tRedis({ isDurable: true });
    const env = { ...noUpstreams, REDIS_URL: redis.url };
    const { process: other } = await tGatewayProcess({ ...env, STORE_SECRET: theirs });
    other.kill('SIGTERM');
    await other.ended;
    await redis.stop();
    const service = await tRecordingEssayService({ write: async () => {} });
    const gateway = await tGatewayProcess({ ...env, STORE_SECRET: ours, ESSAY_URL: service.url });
    await redis.restart();
    const readiness = async () => (await fetch(`${gateway.origin}/ready`)).json();
    await vi.waitFor(async () => expect(await readiness()).toMatchObject({ storeFailure: 'wrong-secret' }), {
      interval: 20,
      timeout: 20_000,
    });
    await expect(gateway.order('Pens', 'form-1')).rejects.toThrow('cannot make sure');
    expect(service.calls).toHaveLength(0);
    expect(gateway.process.stderr()).toMatch(/"level":50.*"failure":"unreachable"/);
    expect(gateway.process.stderr()).toMatch(/"level":50.*written with another STORE_SECRET/);
  });
});

it('a generated secret that is restored permits the start again', async () => {
  const DATA_DIR = await tOtherStore();
  const { stderr } = await tRun(['start'], { DATA_DIR });
  expect(stderr).toContain('or set the STORE_SECRET that was set before');
  const { process: gateway } = await tGatewayProcess({ ...noUpstreams, DATA_DIR, STORE_SECRET: theirs });
  gateway.kill('SIGTERM');
  expect((await gateway.ended).code).toBe(0);
  rmSync(DATA_DIR, { recursive: true });
});
