import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countryFormats } from '../../src/iban/registry.ts';
import { createRedact, createSecretRedaction, redactIbans } from '../../src/telemetry/redact.ts';

const examples = countryFormats().map(({ example }) => example);
const inGroups = (iban: string, separator: string) => iban.replace(/(.{4})(?=.)/g, `$1${separator}`);

describe('redactIbans', () => {
  it.each(examples)('hides %s in every format', (example) => {
    const separators = [' ', '-', '\u00a0', '  ', '+', '%20', '.', '/', '\t'];
    const formats = [example, example.toLowerCase(), ...separators.map((separator) => inGroups(example, separator))];
    for (const format of formats) {
      expect(redactIbans(`Payee ${format}, please.`)).toBe('Payee [IBAN], please.');
      expect(redactIbans(JSON.stringify({ iban: format, n: [format] }))).toBe('{"iban":"[IBAN]","n":["[IBAN]"]}');
      expect(redactIbans(`GET /iban_validate?iban_number=${format}&x=1`)).toBe(
        'GET /iban_validate?iban_number=[IBAN]&x=1',
      );
    }
  });

  it('hides all IBANs in a text', () => {
    expect(redactIbans('DE89370400440532013000, GB29 NWBK 6016 1331 9268 19')).toBe('[IBAN], [IBAN]');
  });

  it.each(['line one\n%s', 'a\t%s', 'iban%3D%s'])('hides one after %j in a line of JSON', (text) => {
    const line = JSON.stringify({ msg: text.replace('%s', 'DE89370400440532013000') });
    expect(redactIbans(line)).toBe(JSON.stringify({ msg: text.replace('%s', '[IBAN]') }));
  });

  it('keeps UUIDs readable', () => {
    fc.assert(
      fc.property(fc.uuid(), (uuid) => {
        expect(redactIbans(`{"requestId":"${uuid}"}`)).toBe(`{"requestId":"${uuid}"}`);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    'Upstream answered 503 after 1200 ms; the next try is in 400 ms.',
    '{"level":30,"time":1767225600000,"msg":"listens on http://127.0.0.1:4000"}',
    'at file:///app/dist/services/bank-data/main.js:12:34',
    'BIC COBADEFFXXX, bank code 37040044, account 0532013000',
    'Version v20.20.2 of 2026-11-21T08:52:56.737Z',
    '',
  ])('does not change "%s"', (text) => {
    expect(redactIbans(text)).toBe(text);
  });
});

describe('createRedact', () => {
  it('hides secrets, also in their JSON-escaped form, and IBANs', () => {
    const redact = createRedact(['key-1', 'quo"ted\\key']);
    const text = `key-1 ${JSON.stringify('quo"ted\\key')} quo"ted\\key DE89370400440532013000`;
    expect(redact(text)).toBe('[hidden] "[hidden]" [hidden] [IBAN]');
  });

  it('ignores empty secrets', () => {
    expect(createRedact([''])('text')).toBe('text');
  });
});

describe('createSecretRedaction', () => {
  const redactSecrets = createSecretRedaction(['seeded-key-1', 'short']);

  it('hides long secrets, but neither short ones nor IBANs', () => {
    expect(redactSecrets('seeded-key-1 short DE89370400440532013000')).toBe('[hidden] short DE89370400440532013000');
  });

  it('hides a part of a secret only at the end of a truncated text', () => {
    expect(redactSecrets('you sent seeded-k', true)).toBe('you sent [hidden]');
    expect(redactSecrets('seeded-k is what you sent: seeded-key-1', true)).toBe('seeded-k is what you sent: [hidden]');
    expect(redactSecrets('you sent see', true)).toBe('you sent see');
    expect(redactSecrets('you sent seeded-k')).toBe('you sent seeded-k');
  });
});
