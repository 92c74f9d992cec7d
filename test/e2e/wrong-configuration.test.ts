import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../src/config/read-config.ts';
import { gatewayVariables } from '../../src/config/variables.ts';
import { ConfigError } from '../../src/errors.ts';
import { tScript } from '../process.ts';
import { tFolder } from '../stores/folder.ts';

const redis = { REDIS_URL: 'redis://127.0.0.1:9', STORE_SECRET: 'seeded-secret-of-the-store' };
const paid = { BANK_DATA_URL: 'https://bank.example', BANK_DATA_API_KEY: 'seeded-key' };

async function tFailedStart(env: Record<string, string>): Promise<string> {
  const gateway = tScript('src/main.ts', { DATA_DIR: join(tFolder(), 'data'), PORT: '0', ...env });
  expect(await gateway.ended).toEqual({ code: 1, signal: null });
  expect(gateway.stdout()).toBe('');
  expect(gateway.stderr()).not.toMatch(/^\s+at |seeded/m);
  return gateway.stderr();
}

/* Each message: the variable, what would be right, what is wrong. */

describe('the gateway does not start', () => {
  it.each([
    [{ PORT: '70000' }, 'PORT: must be a whole number from 0 to 65535, but is "70000"'],
    [{ HOST: 'http://localhost' }, 'HOST: must be an IP address or host name of this machine without a port'],
    [{ HOST: '192.0.2.1' }, 'this machine has no such address; set HOST to one of its addresses, such as 127.0.0.1'],
    [
      { LOG_LEVEL: 'verbose' },
      'LOG_LEVEL: must be one of trace, debug, info, warn, error, fatal, silent, but is "verb',
    ],
    [{ PORT: '4000', METRICS_PORT: '4000' }, 'METRICS_PORT: must be another port than PORT: metrics are never served'],
    [
      { METRICS_PORT: '0', METRICS_HOST: '192.0.2.1' },
      'this machine has no such address; set METRICS_HOST to one of its',
    ],
    [{ METRICS_PORT: '0', METRICS_HOST: 'a b' }, 'METRICS_HOST: must be an IP address or host name of this machine'],
    [{ REQUEST_LOG_PER_SECOND: '-1' }, 'REQUEST_LOG_PER_SECOND: must be a whole number from 0 to 100000, but is "-1"'],
    [{ SHUTDOWN_DELAY_MS: '5s' }, 'SHUTDOWN_DELAY_MS: must be a whole number from 0 to 600000, but is "5s"'],
    [{ DATA_DIR: '/proc/nope' }, 'but "/proc/nope" cannot be created (ENOENT)'],
    [{ DATA_DIR: '/dev/null/data' }, 'but "/dev/null/data" is a file, or is in one (ENOTDIR)'],
    [
      { BANK_DATA_URL: 'bank.example' },
      'BANK_DATA_URL: must be an http:// or https:// URL without user name, password',
    ],
    [{ BANK_DATA_URL: 'https://bank.example' }, 'BANK_DATA_API_KEY: missing; it is required because BANK_DATA_URL is'],
    [{ ...paid, BANK_DATA_API_KEY: 'seeded key' }, 'BANK_DATA_API_KEY: must be printable ASCII without spaces'],
    [
      { ESSAY_API_KEY_FILE: '/missing' },
      'ESSAY_API_KEY_FILE: the file cannot be read (ENOENT); it must be the path of',
    ],
    [{ REDIS_URL: 'redis://127.0.0.1' }, 'STORE_SECRET: missing; it is required because REDIS_URL is set'],
    [
      { REDIS_URL: 'http://:seeded@redis' },
      'REDIS_URL: must be redis://[user:password@]host[:port][/database], or red',
    ],
    [{ LLM_MODEL: 'llama3.2' }, 'LLM_URL: missing; it is required because LLM_MODEL is set'],
    [{ ...paid, HOST: '0.0.0.0' }, 'HOST: must be a loopback address, such as 127.0.0.1, because upstream calls are'],
    [{ ...paid, HOST: '0.0.0.0' }, 'ALLOWED_HOSTS: missing; it is required because HOST is not a loopback address'],
    [{ GATEWAY_API_KEYS: 'shop:seeded:essays' }, 'GATEWAY_API_KEYS: must contain the SHA-256 hash of each key as 64'],
    [{ GATEWAY_API_KEYS_FILE: '/missing' }, 'GATEWAY_API_KEYS_FILE: the file cannot be read (ENOENT); it must be a'],
    [{ ...redis, GATEWAY_API_KEYS_FILE: '/missing' }, 'GATEWAY_API_KEYS_FILE: the file cannot be read (ENOENT)'],
    [{ JWT_JWKS_URL: 'https://issuer.example' }, 'JWT_AUDIENCE: missing; tokens need JWT_ISSUER, JWT_AUDIENCE, and'],
    [{ JWT_JWKS_URL: 'http://issuer.example' }, 'JWT_JWKS_URL: must be an https:// URL without user name and password'],
    [{ CALLER_ESSAY_CALLS: '10' }, 'CALLER_ESSAY_CALLS: must be a number of calls per day or month, such as 1000/day'],
    [{ TRUSTED_DOCUMENTS: '/missing' }, 'TRUSTED_DOCUMENTS: a file cannot be read (ENOENT); it must list'],
  ])('with %j', async (env, message) => {
    expect(await tFailedStart(env as Record<string, string>)).toContain(message);
  });

  it('if its port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const message = `port ${port}: another process listens there already; set PORT to a free port`;
    expect(await tFailedStart({ PORT: String(port) })).toContain(message);
  });

  it('if a file of its store is damaged', async () => {
    const folder = tFolder();
    writeFileSync(join(folder, 'store-1.lmdb'), 'text');
    expect(await tFailedStart({ DATA_DIR: folder })).toContain('store-1.lmdb is damaged or was not created by this');
  });
});

/** Names, claims and paths of files that the start reads may be any text. */
const anyText =
  /^(DATA_DIR|LLM_MODEL|ESSAY_MODE_.*|ESSAY_TEXT_FIELD|TRUSTED_DOCUMENTS|JWT_(?!JWKS|PUBLIC|ALGO|CLOCK).*|.*KEYS_FILE)$/;

it.each(Object.keys(gatewayVariables).filter((name) => !anyText.test(name)))('describes a wrong %s', (name) => {
  const read = () => readConfig({ [name]: '\u{1f4a5} !' });
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(new RegExp(`\n {2}${name}: .*\\bmust `));
});
