import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runFailingStart } from '../support/command.ts';
import { paid, wrongValues } from '../support/gateway/config/wrong-values.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { tHttpServer } from '../support/loopback.ts';
import { tScript } from '../support/process.ts';

const redis = { REDIS_URL: 'redis://127.0.0.1:9', STORE_SECRET: 'seeded-secret-of-the-store' };

async function tFailedStart(env: Readonly<Record<string, string>>): Promise<string> {
  const { code, stdout, stderr } = await runFailingStart({ DATA_DIR: join(tFolder(), 'data'), PORT: '0', ...env });
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).not.toMatch(/^\s+at |seeded/m);
  return stderr;
}

describe('the gateway does not start', () => {
  it('with a wrong value: test/gateway/config/wrong-values.test.ts reads all of them', async () => {
    const { env, problem } = wrongValues.find(({ variable }) => variable === 'PORT') ?? expect.unreachable();
    expect(await tFailedStart(env)).toBe(`The configuration is invalid:\n  ${problem}\n`);
  });

  it.each([
    [{ ...paid, HOST: '0.0.0.0' }, 'HOST: must be a loopback address, such as 127.0.0.1, because upstream calls are'],
    [{ HOST: '192.0.2.1' }, 'this machine has no such address; set HOST to one of its addresses, such as 127.0.0.1'],
    [
      { METRICS_PORT: '0', METRICS_HOST: '192.0.2.1' },
      'this machine has no such address; set METRICS_HOST to one of its',
    ],
    [{ DATA_DIR: '/proc/nope' }, 'but "/proc/nope" cannot be created (ENOENT)'],
    [{ DATA_DIR: '/dev/null/data' }, 'but "/dev/null/data" is a file, or is in one (ENOTDIR)'],
    [{ GATEWAY_API_KEYS_FILE: '/missing' }, 'GATEWAY_API_KEYS_FILE: the file cannot be read (ENOENT); it must be a'],
    [{ ...redis, GATEWAY_API_KEYS_FILE: '/dev/zero' }, 'GATEWAY_API_KEYS_FILE: the file cannot be read (not a regular'],
    [{ TRUSTED_DOCUMENTS: '/missing' }, 'TRUSTED_DOCUMENTS: /missing cannot be read (ENOENT); it must list manifests'],
  ])('with %j', async (env, message) => {
    expect(await tFailedStart(env as Record<string, string>)).toContain(message);
  });

  it('with trusted documents that are not JSON', async () => {
    const file = join(tFolder(), 'manifest.json');
    writeFileSync(file, '{');
    const problem = 'is not valid JSON; it must list manifests, or folders of them';
    expect(await tFailedStart({ TRUSTED_DOCUMENTS: file })).toContain(`TRUSTED_DOCUMENTS: ${file} ${problem}`);
  });

  it('if a file of its store is damaged', async () => {
    const folder = tFolder();
    writeFileSync(join(folder, 'store-1.lmdb'), 'text');
    expect(await tFailedStart({ DATA_DIR: folder })).toContain('store-1.lmdb is damaged or was not created by this');
  });

  it('if its port is in use, and leaves nothing running', async () => {
    const { port } = new URL((await tHttpServer(() => {})).url);
    const started = tScript('src/cli/main.ts', { PORT: port });
    expect(await started.ended).toEqual({ code: 1, signal: null });
    const problem = 'another process listens there already; set PORT to a free port.';
    expect(started.stderr()).toBe(`Cannot listen on 127.0.0.1, port ${port}: ${problem}\n`);
  });
});
