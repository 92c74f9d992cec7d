import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { backUp, restore } from '../../src/cli/backup.ts';
import { verifyStore } from '../../src/cli/store.ts';
import { openStore } from '../../src/gateway/stores/open-store.ts';
import { runCommand } from '../support/command.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { tGateway } from '../support/gateway.ts';
import { noUpstreams, orderMutation, orderVariables, tGatewayProcess } from '../support/process.ts';
import { replyJson, tUpstream } from '../support/scripted-upstream.ts';

const tRun = (args: string[], dataDir: string, env: Record<string, string> = {}) =>
  runCommand(args, { DATA_DIR: dataDir, ...env });

/** Unlike a pipe, it is created without a process. */
function tSocket(path: string): void {
  const server = createServer().listen(path);
  onTestFinished(() => void server.close());
}

const text = 'A pen holds ink. It also holds thoughts. '.repeat(6);

describe('backup and restore', () => {
  it('keep every essay and count that was acknowledged before, while the gateway goes on', async () => {
    const [dataDir, target, other] = [tFolder(), join(tFolder(), 'backup'), join(tFolder(), 'data')];
    const upstream = await tUpstream(replyJson(200, { essay: text }));
    const env = { ...noUpstreams, ESSAY_URL: upstream.url, ESSAY_MONTHLY_ALLOWANCE: '1000' };
    const gateway = await tGatewayProcess({ ...env, DATA_DIR: dataDir });
    const orders = Array.from({ length: 20 }, (_, index) => `form-${index}`);
    const essays = await Promise.all(orders.map((key) => gateway.order('Pens', key)));
    let isRunning = true;
    const load = (async () => {
      for (let order = 0; isRunning; order++) await gateway.order('Ink', `load-${order}`);
    })();
    const { code, stdout } = await tRun(['backup', target], dataDir);
    isRunning = false;
    await load;
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}store-1\.lmdb +\d+ KiB\n {2}store-1\.lmdb-created +1 KiB\n {2}store-secret +1 KiB\n/m);
    expect(readdirSync(target).map((name) => statSync(join(target, name)).mode & 0o077)).toEqual([0, 0, 0, 0]);
    const replaced = await tRun(['restore', target, '--replace'], dataDir);
    const refusal = expect.stringContaining('store-1.lmdb is used by a running process: stop all gateways');
    expect(replaced).toMatchObject({ code: 2, stderr: refusal });
    expect(readdirSync(dataDir).filter((name) => name.startsWith('before-restore'))).toEqual([]);
    // A killed process does not use it any more.
    gateway.process.kill('SIGKILL');
    await gateway.process.ended;
    expect(await tRun(['restore', target, '--replace'], dataDir)).toMatchObject({ code: 0 });

    expect(await tRun(['restore', target], other)).toMatchObject({ code: 0 });
    const paid = upstream.calls.length;
    const restored = tGateway({ env: { DATA_DIR: other, ESSAY_MONTHLY_ALLOWANCE: '1000' } });
    const again = orders.map((key) => restored.ask(orderMutation, orderVariables('Pens', key)));
    expect((await Promise.all(again)).map(({ data }) => data?.generateEssay)).toEqual(essays);
    const { data } = await restored.ask('{ allowances { service used } }');
    const allowances = Object.values(data?.allowances ?? {}) as unknown as { service: string; used: number }[];
    const counted = allowances.find(({ service }) => service === 'ESSAYS')?.used;
    expect(counted).toBeGreaterThanOrEqual(20);
    // Blocks that are counted ahead of time are not paid for.
    expect(counted).toBeLessThanOrEqual(paid + 20);
  });

  it('restore nothing over present files, or with --replace moves them aside', async () => {
    const [dataDir, target] = [tFolder(), join(tFolder(), 'backup')];
    const { store } = openStore({ redis: null, secret: null }, dataDir, {
      storeDown() {},
      storeUp() {},
      storeFailed() {},
      storeRisksChanged() {},
    });
    await store.set('key', 'value', { expiresInMs: 3_600_000 });
    await store.close();
    const verified = await tRun(['store', 'check'], dataDir);
    expect(verified).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/is readable:\n {2}store-1\.lmdb +4 entries/),
    });
    expect(await tRun(['backup', target], dataDir)).toMatchObject({ code: 0 });
    const secret = readFileSync(join(dataDir, 'store-secret'), 'utf8');
    writeFileSync(join(dataDir, 'store-secret'), 'another');

    const refused = await tRun(['restore', target], dataDir);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('stop the gateway, and add --replace') });
    expect(readFileSync(join(dataDir, 'store-secret'), 'utf8')).toBe('another');
    const { code, stdout } = await tRun(['restore', target, '--replace'], dataDir);
    const [, moved = ''] = /The files that were there are in (.*)\.\n/.exec(stdout) ?? [];
    expect(code).toBe(0);
    expect(readFileSync(join(dataDir, 'store-secret'), 'utf8')).toBe(secret);
    expect(readFileSync(join(moved, 'store-secret'), 'utf8')).toBe('another');
    expect(existsSync(join(dataDir, 'store-1.lmdb-lock'))).toBe(false);
    // Files that were moved aside are in no later backup.
    const later = join(tFolder(), 'later');
    await tRun(['backup', later], dataDir);
    expect(readdirSync(later).toSorted()).toEqual(['store-1.lmdb', 'store-1.lmdb-created', 'store-secret']);
  });

  it('keep what the audit trail has beside the backup, and restore what it has lost', async () => {
    const [dataDir, target] = [tFolder(), join(tFolder(), 'backup')];
    const trail = (name: string) => join(dataDir, 'audit', `2026-11-27.${name}.jsonl`);
    mkdirSync(join(dataDir, 'audit'));
    for (const name of ['grown', 'same', 'lost']) writeFileSync(trail(name), 'before\n');
    expect(await tRun(['backup', target], dataDir)).toMatchObject({ code: 0 });
    writeFileSync(trail('grown'), 'before\nafter\n');
    writeFileSync(trail('new'), 'after\n');
    rmSync(trail('lost'));
    const { code, stdout } = await tRun(['restore', target, '--replace'], dataDir);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/remain in the audit trail \(2 files\), but are not counted: .*`allowance set`/),
    ]);
    const contents = ['grown', 'same', 'lost', 'new'].map((name) => readFileSync(trail(name), 'utf8'));
    expect(contents).toEqual(['before\nafter\n', 'before\n', 'before\n', 'after\n']);
    expect(statSync(trail('new')).mode & 0o077).toBe(0);
  });

  it('change nothing if the backup is damaged', async () => {
    const [dataDir, target] = [tFolder(), tFolder()];
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(join(target, 'store-1.lmdb'), Buffer.alloc(8_192, 1));
    const { code, stderr } = await tRun(['restore', target], dataDir);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^The backup is invalid:\n.*restore another backup/)]);
    expect(readdirSync(dataDir)).toEqual([]);
    expect(await tRun(['store', 'check'], target)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is damaged'),
    });
  });

  it.each<[string, string[], Record<string, string>, number, string]>([
    ['of an empty DATA_DIR', ['backup', 'FOLDER'], {}, 2, 'has no files: set DATA_DIR'],
    ['of nothing', ['restore', 'FOLDER'], {}, 2, 'must be a folder that backup wrote'],
    [
      'with Redis',
      ['backup', 'FOLDER'],
      { REDIS_URL: 'redis://127.0.0.1', STORE_SECRET: 'a-secret-of-16-letters' },
      1,
      'which has backups of its own',
    ],
  ])('explain why they do not run: %s', async (_, [command = ''], env, code, message) => {
    const result = await tRun([command, join(tFolder(), 'none')], tFolder(), env);
    expect(result).toMatchObject({ code, stderr: expect.stringContaining(message) });
  });

  it('restore nothing from a backup with a link, a pipe, or a folder in the place of a file', async () => {
    const outside = join(tFolder(), 'outside');
    writeFileSync(outside, 'of another program');
    const kinds: [string, (path: string) => void, string][] = [
      ['store-secret', (path) => symlinkSync(outside, path), 'is a symbolic link'],
      ['store-secret', (path) => symlinkSync(join(outside, 'missing'), path), 'is a symbolic link'],
      ['store-1.lmdb', (path) => symlinkSync(outside, path), 'is a symbolic link'],
      ['lists', (path) => symlinkSync(dirname(outside), path), 'is a symbolic link'],
      ['store-1.lmdb', (path) => tSocket(path), 'is a pipe, socket or device'],
      ['store-1.lmdb', (path) => mkdirSync(path), 'is a folder'],
    ];
    for (const [name, create, message] of kinds) {
      for (const inner of ['', 'folder']) {
        const [backup, dataDir] = [tFolder(), tFolder()];
        mkdirSync(join(backup, inner), { recursive: true });
        mkdirSync(dataDir, { recursive: true });
        const path = join(backup, inner, name);
        create(path);
        const problem = expect.stringContaining(`${path} ${message}, and must be a file`);
        await expect(restore(backup, dataDir, { replace: false })).rejects.toMatchObject({ message: problem });
        expect(readdirSync(dataDir)).toEqual([]);
        await expect(backUp(backup, join(tFolder(), 'copy'))).rejects.toMatchObject({ message: problem });
      }
    }
    expect(readFileSync(outside, 'utf8')).toBe('of another program');
  });

  it.each<[string, (path: string) => void]>([
    ['is missing', rmSync],
    ['is empty', (path) => writeFileSync(path, '')],
  ])('copies nothing if the store %s, which was written before', async (problem, lose) => {
    const [dataDir, target] = [tFolder(), join(tFolder(), 'backup')];
    mkdirSync(dataDir, { recursive: true });
    for (const name of ['store-1.lmdb', 'store-1.lmdb-created', 'store-secret'])
      writeFileSync(join(dataDir, name), 'x');
    lose(join(dataDir, 'store-1.lmdb'));
    await expect(backUp(dataDir, target)).rejects.toThrow(`store-1.lmdb ${problem}, but was created before`);
    expect(existsSync(target)).toBe(false);
  });

  it('makes files that only their owner can read', async () => {
    const [backup, dataDir] = [tFolder(), tFolder()];
    mkdirSync(backup, { recursive: true });
    writeFileSync(join(backup, 'store-secret'), 'secret', { mode: 0o666 });
    chmodSync(join(backup, 'store-secret'), 0o666);
    await restore(backup, dataDir, { replace: false });
    expect(statSync(join(dataDir, 'store-secret')).mode & 0o777).toBe(0o600);
  });

  it('explain an error of the file system, and skip the folder of lost files of a disk', async () => {
    const [dataDir, file] = [tFolder(), join(tFolder(), 'file')];
    mkdirSync(join(dataDir, 'lost+found'), { recursive: true });
    writeFileSync(join(dataDir, 'store-secret'), 'secret');
    writeFileSync(file, '');
    const { code, stderr } = await tRun(['backup', join(file, 'inside')], dataDir);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^error: .*inside must be accessible .* \(ENOTDIR\)\n$/)]);
    expect(await backUp(dataDir, join(tFolder(), 'copy'))).toEqual([{ name: 'store-secret', bytes: 6 }]);
  });

  it('of a store whose link has no file is not verified, and nothing is created', async () => {
    const [dataDir, missing] = [tFolder(), join(tFolder(), 'missing')];
    mkdirSync(dataDir, { recursive: true });
    symlinkSync(missing, join(dataDir, 'store-1.lmdb'));
    await expect(verifyStore(dataDir)).rejects.toThrow('store-1.lmdb is a link to a missing file; delete it');
    expect(existsSync(missing)).toBe(false);
  });
});
