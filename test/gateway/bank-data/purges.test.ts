import { describe, expect, it, vi } from 'vitest';
import { createEpochs, type PurgeKind, readPurgedValue } from '../../../src/gateway/bank-data/epochs.ts';
import { createMemoryStore } from '../../support/gateway/stores/memory-store.ts';

const iban = 'DE89370400440532013000';
const day = 86_400_000;

/** Purges that read the store only if the test says so. */
function tPurges(store: Parameters<typeof createEpochs>[0]['store'] = createMemoryStore()) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
  return createEpochs({ store, keepMs: 30 * day, url: null });
}

const bank = { bankCode: '37040044', countryCode: 'DE', bic: 'COBADEFFXXX' };
const validation = { iban, valid: true, ibanData: { countryCode: 'DE', bankCode: '37040044' }, bankData: bank };
const unknownBank = { iban, valid: false, ibanData: null, bankData: null };
const branch = { bic: 'COBADEFF370', valid: true, bank: null };
const generated = ['generation:["DE","37040044",null,"0532013000"]', { kind: 'iban', validation }] as const;
const notGenerated = ['generation:["DE","37040044",null,"1"]', { kind: 'invalid', message: 'No.' }] as const;
const frenchBanks = ['banks:["FR",null,0,20]', { banks: [] }] as const;

describe.each<[PurgeKind, string, (readonly [string, object])[], (readonly [string, object])[]]>([
  ['iban', iban, [[iban, validation], generated], [['GB29NWBK60161331926819', {}], frenchBanks, notGenerated]],
  ['bic', 'COBADEFF', [[iban, validation], ['bic:COBADEFF370', branch], frenchBanks], [[iban, unknownBank]]],
  ['bic', 'COBADEFFXXX', [['bic:COBADEFF', { bic: 'COBADEFF' }], frenchBanks], [['bic:COBADEFF370', branch]]],
  ['bankCode', '37040044', [[iban, validation], [iban, unknownBank], notGenerated], [['bic:COBADEFF370', branch]]],
  ['country', 'DE', [[iban, unknownBank], ['bic:COBADEFF370', branch], notGenerated, frenchBanks], []],
  ['country', 'FR', [frenchBanks], [[iban, validation], notGenerated]],
  ['allLookUps', 'true', [[iban, {}], frenchBanks, notGenerated], []],
])('a purge by %s %s', (kind, value, purged, others) => {
  it('covers the answers that it names, until they are looked up again, and no others', async () => {
    const purges = tPurges();
    await purges.purge({ kind, value });
    const covers = ([key, answer]: readonly [string, object], lastPurge: number) =>
      purges.covers(key, { answer, lastPurge });
    expect(purged.map((entry) => covers(entry, 0))).toEqual(purged.map(() => true));
    expect(purged.map((entry) => covers(entry, purges.latest))).toEqual(purged.map(() => false));
    expect(others.map((entry) => covers(entry, 0))).toEqual(others.map(() => false));
  });
});

describe('gateways that share a store', () => {
  it('see the purges of each other, and call their listeners once', async () => {
    const store = createMemoryStore();
    const [one, other] = [tPurges(store), tPurges(store)];
    const onPurged = vi.fn();
    other.onChanged(onPurged);
    await one.purge({ kind: 'iban', value: iban });
    expect(other.latest).toBe(0);
    vi.advanceTimersByTime(200);
    await vi.waitFor(() => expect(other.latest).toBe(one.latest), { timeout: 100_000 });
    await other.load();
    expect(onPurged).toHaveBeenCalledOnce();
    expect(other.covers(iban, { answer: validation, lastPurge: 0 })).toBe(true);
  });

  it('lose no purge that is made at the same time by another one, even with the same clock', async () => {
    const store = createMemoryStore();
    const purges = [tPurges(store), tPurges(store), tPurges(store)];
    const countries = ['DE', 'FR', 'GB'];
    await Promise.all(purges.map((each, index) => each.purge({ kind: 'country', value: countries[index] ?? '' })));
    const late = tPurges(store);
    await late.load();
    for (const country of countries) {
      expect(late.covers('', { answer: { countryCode: country }, lastPurge: 0 })).toBe(true);
    }
    expect(late.latest).toBe(Date.now() + 2);
  });

  it('know the purges before they read what is shared, or read nothing', async () => {
    const get = vi.fn(() => Promise.reject(new Error('not connected')));
    await expect(tPurges({ ...createMemoryStore(), get }).load()).rejects.toThrow('not connected');
  });
});

it('forgets a purge once no answer can be so old, and those that a purge of all look-ups covers', async () => {
  const store = createMemoryStore();
  const replace = vi.spyOn(store, 'replace');
  const purges = tPurges(store);
  const stored = () => Object.keys(JSON.parse(String(replace.mock.lastCall?.[2])));
  await purges.purge({ kind: 'country', value: 'DE' });
  vi.setSystemTime(Date.now() + 31 * day);
  await purges.purge({ kind: 'country', value: 'FR' });
  expect(stored()).toEqual(['country:FR']);
  await purges.purge({ kind: 'allLookUps', value: 'true' });
  await purges.purge({ kind: 'country', value: 'GB' });
  expect(stored()).toEqual(['allLookUps:true', 'country:GB']);
});

it('remembers 1,000 values, and refuses more, except a purge of all look-ups', async () => {
  const purges = tPurges(null);
  for (let code = 0; code < 1_000; code += 1) await purges.purge({ kind: 'bankCode', value: String(code) });
  expect(await purges.purge({ kind: 'iban', value: iban })).toBe(false);
  expect(await purges.purge({ kind: 'bankCode', value: '0' })).toBe(true);
  expect(await purges.purge({ kind: 'allLookUps', value: 'true' })).toBe(true);
  expect(await purges.purge({ kind: 'iban', value: iban })).toBe(true);
});

describe('the value of a purge', () => {
  it.each([
    [{ iban: 'de89 3704 0044 0532 0130 00' }, { kind: 'iban', value: iban }],
    [{ bic: 'cobadeff' }, { kind: 'bic', value: 'COBADEFF' }],
    [{ bankCode: 'NWBK' }, { kind: 'bankCode', value: 'NWBK' }],
    [{ country: 'XK' }, { kind: 'country', value: 'XK' }],
    [{ allLookUps: true }, { kind: 'allLookUps', value: 'true' }],
  ])('is read from %j', (given, expected) => {
    expect(readPurgedValue(JSON.stringify(given))).toEqual(expected);
  });

  it.each([
    [{ iban: 'DE00370400440532013000' }, 'iban must be a valid IBAN; others are never cached'],
    [{ bic: '3704' }, 'bic must be a valid BIC; others are never cached'],
    [{ bankCode: '' }, 'bankCode must be a national bank code, such as 37040044'],
    [{ country: 'Germany' }, 'country must be an ISO 3166-1 alpha-2 code, such as DE'],
    [{ allLookUps: false }, 'allLookUps must be true'],
    [{}, 'must have one of iban, bic, bankCode, country, allLookUps'],
    [{ country: 'DE', bic: 'COBADEFF' }, 'must have one of iban, bic, bankCode, country, allLookUps'],
    [{ essays: true }, 'Unrecognized key: "essays"'],
  ])('is not %j', (given, message) => {
    expect(readPurgedValue(JSON.stringify(given))).toBe(message);
  });
});
