import { describe, expect, it } from 'vitest';
import { runCommand } from '../support/command.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { tIban } from '../support/ibans.ts';
import { tGatewayProcess } from '../support/process.ts';
import { tRedis, whyNoRedis } from '../support/redis.ts';
import { replyJson, tUpstream } from '../support/scripted-upstream.ts';

/** A running gateway with three calls a month, and the command beside it. */
async function tAllowance(shared: Record<string, string> = {}) {
  const upstream = await tUpstream(replyJson(200, { valid: true }));
  const env = {
    ...{ DATA_DIR: tFolder(), BANK_DATA_URL: upstream.url, BANK_DATA_API_KEY: 'seeded-key' },
    ...{ BANK_DATA_MONTHLY_ALLOWANCE: '3', ...shared },
  };
  const gateway = await tGatewayProcess(env);
  let account = 0;
  return {
    /** How many of so many look-ups of new IBANs are answered. */
    async lookUp(times: number): Promise<number> {
      const before = upstream.calls.length;
      for (let call = 0; call < times; call += 1)
        await gateway.ask(`{ ibanValidation(iban: "${tIban(account++)}") { valid } }`).catch(() => {});
      return upstream.calls.length - before;
    },
    run: (...args: string[]) => runCommand(args, env),
  };
}

describe('ledgerquill allowance', () => {
  it.each([
    ['the embedded store', false],
    [`Redis${whyNoRedis}`, true],
  ])('corrects the count of a running gateway, and the audit trail has each correction: %s', async (_, usesRedis) => {
    if (usesRedis && whyNoRedis) return;
    const redis = usesRedis ? { REDIS_URL: (await tRedis()).url, STORE_SECRET: 'a-secret-that-all-share' } : {};
    const { lookUp, run } = await tAllowance(redis);
    expect(await lookUp(5)).toBe(3);
    const shown = await run('allowance', 'show', 'bank-data');
    expect(shown.stdout).toMatch(/^bank-data: 3 used, 0 of 3 left, until \d{4}-\d\d-01T00:00:00\.000Z\n$/);
    const refunded = await run('allowance', 'refund', 'bank-data', '2');
    expect(refunded.stdout).toMatch(/^bank-data: 1 used, 2 of 3 left/);
    expect(await lookUp(5)).toBe(2);
    expect((await run('allowance', 'set', 'bank-data', '2')).stdout).toMatch(/^bank-data: 2 used/);
    expect(await lookUp(5)).toBe(1);
    expect((await run('allowance', 'show')).stdout).toMatch(/^bank-data: 3 used.*\nessays: 0 used, unlimited/);
    const { stderr } = await run('audit', 'sum');
    expect(stderr).toMatch(/The count of calls of bank-data was corrected from 3 to 1 at /);
    expect(stderr).toMatch(/The count of calls of bank-data was corrected from 3 to 2 at /);
  });

  it.each([
    [['refund', 'bank-data', '1'], 'only 0 calls are counted this month'],
    [['set', 'bank-data', 'many'], 'must be a whole number'],
    [['set'], 'set needs a service, bank-data or essays'],
    [['refund', 'iban', '1'], "value 'iban' is invalid"],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await runCommand(['allowance', ...args]);
    expect(stderr).toContain(message);
    expect(code).not.toBe(0);
  });

  it('says that no gateway has used the folder, as in another one than that of the gateway', async () => {
    const folder = tFolder();
    const shown = await runCommand(['allowance', 'show'], { DATA_DIR: folder });
    expect(shown).toMatchObject({ code: 0, stderr: `${folder} has no store; DATA_DIR must be that of the gateway\n` });
  });

  it.skipIf(whyNoRedis)(`says that a store cannot be reached${whyNoRedis}`, async () => {
    const redis = await tRedis();
    await redis.stop();
    const env = { REDIS_URL: redis.url, STORE_SECRET: 'a-secret-that-all-share' };
    for (const action of ['show', 'set bank-data 1']) {
      const { code, stdout, stderr } = await runCommand(['allowance', ...action.split(' ')], env);
      expect(stderr).toMatch(/^The store cannot be used:\n {2}.+: the count was not read or not changed/m);
      expect([code, stdout]).toEqual([1, '']);
    }
  });
});
