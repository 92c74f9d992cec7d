import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ec, jwt, pemOf, sha256, tIdentify, tToken } from '../../support/gateway/callers.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';

const key = 'lq_seeded-key-of-the-shop';
const otherKey = 'lq_seeded-key-of-the-office';
const shop = `shop:${sha256(key)}:bank-data`;

// How headers are read, and what is refused, is tested over HTTP, in test/gateway/http/callers.test.ts.
it('an API key has no meaning where no callers are configured', () => {
  const scopes = new Set(['bank-data', 'essays', 'introspection', 'graphiql']);
  const { identifyAndCount } = tIdentify({});
  expect(identifyAndCount(['authorization', `Basic ${key}`])).toMatchObject({ id: 'anonymous', scopes });
});

describe('the file with API keys', () => {
  const limits = { requestsPerMinute: 60, bankDataCalls: '1000/day', essayCalls: null };
  const documentOf = (...keys: string[]) =>
    JSON.stringify({
      keys: keys.map((one, index) => ({ name: `k${index}`, sha256: sha256(one), scopes: [], limits })),
    });

  function tKeysFile(text: string) {
    const file = join(tFolder(), 'keys.json');
    writeFileSync(file, text);
    return file;
  }

  it('contains limits, in place of the default ones', async () => {
    const { identifyAndCount } = tIdentify({
      GATEWAY_API_KEYS: shop,
      GATEWAY_API_KEYS_FILE: tKeysFile(documentOf(otherKey)),
      CALLER_ESSAY_CALLS: '5/month',
    });
    expect(await identifyAndCount(['x-api-key', otherKey])).toMatchObject({
      id: 'api-key:k0',
      limits: {
        requestsPerMinute: 60,
        bankDataCalls: { calls: 1_000, period: 'day' },
        essayCalls: null,
        maxQueryCost: null,
      },
    });
    expect(identifyAndCount(['x-api-key', key])).toMatchObject({
      limits: { essayCalls: { calls: 5, period: 'month' } },
    });
  });

  it.each([
    ['no file', null, 'the file cannot be read (ENOENT)'],
    ['no JSON', key, 'the file is not valid JSON'],
    ['no keys', '{}', 'keys: '],
    ['a key in place of its hash', `{"keys":[{"name":"shop","sha256":"${key}","scopes":[]}]}`, 'keys: 0: sha256: '],
    [
      'an unknown scope',
      `{"keys":[{"name":"shop","sha256":"${sha256(key)}","scopes":["all"]}]}`,
      'keys: 0: scopes: 0: ',
    ],
    ['an unknown limit', documentOf(key).replace('requestsPerMinute', 'requests'), 'keys: 0: limits: '],
    [
      'a budget in money without a price in its currency',
      documentOf(key).replace('1000/day', '10 EUR/day'),
      'k0: bankDataCalls: a budget of 10.00 EUR needs the price of a call in EUR, but BANK_DATA_PRICE is not set',
    ],
    [
      'two keys of one caller, with other limits',
      documentOf(key, otherKey).replace('k1', 'k0').replace('1000/day', '1000/month'),
      'keys: the keys of k0 must have the same limits',
    ],
    ['the same key twice', documentOf(key, key), 'keys: must contain the hash of each key only once'],
  ])('prevents the start if it has %s', (_, text, problem) => {
    const file = text === null ? '/missing/keys.json' : tKeysFile(text);
    const start = () => tIdentify({ GATEWAY_API_KEYS_FILE: file });
    expect(start).toThrow(`GATEWAY_API_KEYS_FILE: ${problem}`);
    expect(start).not.toThrow(key);
  });

  it('is read again when it is written, replaced by renaming, or removed and created', async () => {
    const file = tKeysFile(documentOf(key));
    const { callerOf, events } = tIdentify({ GATEWAY_API_KEYS_FILE: file });
    expect(await callerOf(key)).toBe('api-key:k0');

    writeFileSync(file, documentOf(otherKey));
    await expect.poll(() => callerOf(otherKey)).toBe('api-key:k0');
    expect(await callerOf(key)).toBe(401);

    writeFileSync(`${file}.new`, documentOf(otherKey, key));
    renameSync(`${file}.new`, file);
    await expect.poll(() => callerOf(key)).toBe('api-key:k1');

    rmSync(file);
    await expect
      .poll(() => events)
      .toContainEqual(['fileInvalid', 'GATEWAY_API_KEYS_FILE', 'the file cannot be read (ENOENT)']);
    expect(await callerOf(key)).toBe('api-key:k1');
    writeFileSync(file, documentOf(key));
    await expect.poll(() => callerOf(key)).toBe('api-key:k0');
  });

  it('is read again when Kubernetes replaces the symbolic link to its folder', async () => {
    const folder = tFolder();
    for (const [version, text] of [documentOf(key), documentOf(otherKey)].entries()) {
      mkdirSync(join(folder, `..${version}`));
      writeFileSync(join(folder, `..${version}`, 'keys.json'), text);
    }
    symlinkSync('..0', join(folder, '..data'));
    symlinkSync(join('..data', 'keys.json'), join(folder, 'keys.json'));
    const { callerOf } = tIdentify({ GATEWAY_API_KEYS_FILE: join(folder, 'keys.json') });
    expect(await callerOf(key)).toBe('api-key:k0');

    symlinkSync('..1', join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
    await expect.poll(() => callerOf(otherKey)).toBe('api-key:k0');
    expect(await callerOf(key)).toBe(401);
  });

  it.each([
    ['a subject', { subjects: ['anna'] }, ['jwt:HASH']],
    ['an issuer', { issuers: [jwt.JWT_ISSUER] }, [`issuer:${jwt.JWT_ISSUER}`]],
  ])('blocks %s, whose token was verified before, until it is removed', async (_, blocked, names) => {
    const file = tKeysFile(JSON.stringify({ keys: [] }));
    const env = { ...jwt, JWT_PUBLIC_KEY: pemOf(ec.publicKey), GATEWAY_API_KEYS_FILE: file };
    const { callerOf, isWithdrawn, events } = tIdentify(env);
    const [token, again] = [await tToken(), await tToken({ expiresAt: '2h' })];
    expect(await callerOf(token)).toBe('jwt:anna');
    expect(isWithdrawn('jwt:anna', 'essays')).toBe(false);

    writeFileSync(file, JSON.stringify({ keys: [], blocked }));
    await expect.poll(() => callerOf(token)).toBe(401);
    expect(await callerOf(again)).toBe(401);
    expect(isWithdrawn('jwt:anna', 'essays')).toBe(true);
    const reported = JSON.stringify(events).replace(/"jwt:[\w-]{11}"/, '"jwt:HASH"');
    expect(reported).toContain(JSON.stringify(['callersBlocked', names]));

    // An invalid file leaves the block in use.
    writeFileSync(file, '{');
    await expect
      .poll(() => events)
      .toContainEqual(['fileInvalid', 'GATEWAY_API_KEYS_FILE', 'the file is not valid JSON']);
    expect(await callerOf(token)).toBe(401);
    writeFileSync(
      file,
      JSON.stringify({ keys: [], blocked: { subjects: ['otto'], issuers: ['https://other.example'] } }),
    );
    await expect.poll(() => callerOf(token)).toBe('jwt:anna');
  });

  it('leaves the last valid keys in use when it becomes invalid, and reports it without its content', async () => {
    const file = tKeysFile(documentOf(key));
    const { callerOf, events } = tIdentify({ GATEWAY_API_KEYS_FILE: file });
    writeFileSync(file, `{"keys": "${otherKey}"`);
    await expect.poll(() => events).toEqual([['fileInvalid', 'GATEWAY_API_KEYS_FILE', 'the file is not valid JSON']]);
    expect(await callerOf(key)).toBe('api-key:k0');
    writeFileSync(file, documentOf());
    await expect.poll(() => events).toContainEqual(['fileReloaded', 'GATEWAY_API_KEYS_FILE', 0]);
    expect(await callerOf(key)).toBe(401);
  });
});
