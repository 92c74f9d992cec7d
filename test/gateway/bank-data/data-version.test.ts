import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createBankDataService } from '../../../src/bank-data-service/create-bank-data-service.ts';
import { replaceImport } from '../../../src/banks/import/replace-import.ts';
import { createEpochs } from '../../../src/gateway/bank-data/epochs.ts';
import { importElsewhere } from '../../support/banks/import/imports.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { bankDataKey, tGateway } from '../../support/gateway.ts';
import { tHttpServer } from '../../support/loopback.ts';
import { tRedis, whyNoRedis } from '../../support/redis.ts';
import { replyJson, tUnusedUrl, tUpstream } from '../../support/scripted-upstream.ts';

const bankNames = '{ ibanValidation(iban: "DE89370400440532013000") { bankData { name } } }';
const anotherLookUp = '{ ibanValidation(iban: "GB29NWBK60161331926819") { valid } }';

/** A self-hosted service with a data folder, and the number of its look-ups. */
async function tService() {
  const dataDir = tFolder();
  const service = createBankDataService({ apiKey: bankDataKey, dataDir });
  onTestFinished(() => service.close());
  let lookUps = 0;
  service.addHook('onRequest', async ({ url }) => {
    if (url.startsWith('/bank_data/')) lookUps += 1;
  });
  const url = await service.listen({ host: '127.0.0.1', port: 0 });
  const bank = { bankCode: '37040044', zip: '', city: '', bic: 'COBADEFFXXX' };
  const importName = (name: string) =>
    replaceImport(dataDir, { country: 'DE', source: 'Registry', date: '2026-11-21', entries: [{ ...bank, name }] });
  return { url, dataDir, importName, lookUps: () => lookUps };
}

async function nameIn({ ask }: Pick<ReturnType<typeof tGateway>, 'ask'>): Promise<unknown> {
  return (await ask(bankNames)).data?.ibanValidation?.bankData?.name;
}

describe('an import of banks', () => {
  it.each([
    ['', {}],
    [', also at BANK_DATA_URL', { BANK_DATA_API_KEY: bankDataKey, BANK_DATA_SELF_HOSTED: 'on' }],
  ])('is what the next answers show, once a look-up reports the new version%s', async (at, more) => {
    const service = await tService();
    const env = at ? { BANK_DATA_URL: service.url, ...more } : {};
    const gateway = tGateway({ bankDataUrl: service.url, env });
    expect(await nameIn(gateway)).toBe('Commerzbank');
    expect(await nameIn(gateway)).toBe('Commerzbank');
    expect(service.lookUps()).toBe(1);

    await service.importName('Imported');
    await gateway.ask(anotherLookUp);
    expect(await nameIn(gateway)).toBe('Imported');
    expect(await nameIn(gateway)).toBe('Imported');
    expect(service.lookUps()).toBe(3);

    await importElsewhere(service.dataDir, 'DE', '--undo');
    await gateway.ask('{ ibanValidation(iban: "FR1420041010050500013M02606") { valid } }');
    expect(await nameIn(gateway)).toBe('Commerzbank');
  });

  it.skipIf(whyNoRedis)(`also replaces the answers in Redis${whyNoRedis}`, async () => {
    const redis = await tRedis();
    const service = await tService();
    const env = { REDIS_URL: redis.url, STORE_SECRET: 'a-secret-that-all-share' };
    const first = tGateway({ bankDataUrl: service.url, env });
    expect(await nameIn(first)).toBe('Commerzbank');
    await first.close();
    await service.importName('Imported');
    const second = tGateway({ bankDataUrl: service.url, env });
    await second.ask(anotherLookUp);
    expect(await nameIn(second)).toBe('Imported');
    const third = tGateway({ bankDataUrl: service.url, env });
    await third.ask('{ ibanValidation(iban: "FR1420041010050500013M02606") { valid } }');
    expect(await nameIn(third)).toBe('Imported');
    expect(service.lookUps()).toBe(4);
  });
});

describe('the data version', () => {
  it('is requested every 5 seconds without a key, once the service has reported one', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const keys: unknown[] = [];
    let version = '1';
    const { url } = await tHttpServer(({ headers, url }, response) => {
      keys.push([url, headers.apikey]);
      response.writeHead(204, { 'x-bank-data-version': version }).end();
    });
    const epochs = createEpochs({ store: null, keepMs: 1, url: url });
    onTestFinished(epochs.close);
    vi.advanceTimersByTime(60_000);
    expect(keys).toEqual([]);

    epochs.report('1');
    version = '2';
    const changed = new Promise<void>((resolve) => epochs.onChanged(resolve));
    vi.advanceTimersByTime(5_000);
    await changed;
    expect(keys).toEqual([['/data-version', undefined]]);
    await vi.waitFor(() => expect(epochs.version).toBe('2'), { timeout: 100_000 });
  });

  it('clears the cache at most three times in 5 seconds, however often it changes, and once more when it stays', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const epochs = createEpochs({ store: null, keepMs: 1, url: await tUnusedUrl() });
    onTestFinished(epochs.close);
    const changed = vi.fn();
    epochs.onChanged(changed);
    const flap = () => {
      for (let answer = 0; answer < 101; answer += 1) epochs.report(String(answer % 2));
    };
    flap();
    expect(changed).toHaveBeenCalledTimes(2);
    vi.advanceTimersByTime(5_000);
    expect(changed).toHaveBeenCalledTimes(3);
    flap();
    vi.advanceTimersByTime(5_000);
    expect(changed).toHaveBeenCalledTimes(6);
    vi.advanceTimersByTime(60_000);
    expect(changed).toHaveBeenCalledTimes(7);
    expect(epochs.version).toBe('0');
  });

  it.each([
    ['of a paid service is ignored: it causes no request, and drops no answer', 1, { BANK_DATA_API_KEY: bankDataKey }],
    ['is not requested from a service that reports none', 0, null],
  ])('%s', async (_, step, paid) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    let version = 0;
    const upstream = await tUpstream((response, call) => {
      version += step;
      const headers = step > 0 ? { 'x-bank-data-version': String(version) } : undefined;
      return replyJson(200, { valid: true }, headers)(response, call);
    });
    const env = paid ? { BANK_DATA_URL: upstream.url, ...paid } : {};
    const gateway = tGateway({ bankDataUrl: upstream.url, env });
    for (const query of [bankNames, anotherLookUp, bankNames, anotherLookUp]) await gateway.ask(query);
    vi.advanceTimersByTime(60_000);
    await gateway.ask(bankNames);
    expect(upstream.calls.map(({ path }) => path)).toEqual(['/bank_data/iban_validate', '/bank_data/iban_validate']);
  });
});
