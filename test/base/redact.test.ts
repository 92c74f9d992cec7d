import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedact, createRedactions, redactIbans } from '../../src/base/redact.ts';
import { toOrderId } from '../../src/gateway/essays/orders/order.ts';
import { createRequestIds } from '../../src/gateway/http/exchange.ts';
import { countryFormats } from '../../src/iban/registry.ts';
import { rounds } from '../support/random.ts';

const examples = countryFormats().map(({ example }) => example);
const inGroups = (iban: string, separator: string) => iban.replace(/(.{4})(?=.)/g, `$1${separator}`);

describe('redactIbans', () => {
  it.each(examples)('hides %s in every format', (example) => {
    const separators = [' ', '-', '\u00a0', '  ', '+', '%20', '.', '/', '\t', '_'];
    const formats = [example, example.toLowerCase(), ...separators.map((separator) => inGroups(example, separator))];
    for (const format of formats) {
      expect(redactIbans(`Payee ${format}, please.`)).toBe('Payee [IBAN], please.');
      expect(redactIbans(JSON.stringify({ iban: format, n: [format] }))).toBe('{"iban":"[IBAN]","n":["[IBAN]"]}');
      expect(redactIbans(`GET /iban_validate?iban_number=${format}&x=1`)).toBe(
        'GET /iban_validate?iban_number=[IBAN]&x=1',
      );
    }
  });

  it.each(examples)('hides %s before a word and in parts of another length', (example) => {
    const parts = [4, 8, 12, 16, 20].filter((end) => end < example.length);
    for (const end of parts) {
      const text = `${example.slice(0, end)} ${example.slice(end)}`;
      expect(redactIbans(`${text} belongs to a payee`)).toBe('[IBAN] belongs to a payee');
    }
    expect(redactIbans(`${example.slice(0, 2)} ${inGroups(example, ' ').slice(2)}.`)).toBe('[IBAN].');
  });

  it.each(['line one\n%s', 'a\t%s', 'iban%3D%s', '%s, GB29 NWBK 6016 1331 9268 19'])(
    'hides those in %j in a line of JSON',
    (text) => {
      const line = JSON.stringify({ msg: text.replace('%s', 'DE89370400440532013000') });
      const hidden = text.replace('%s', '[IBAN]').replace(/GB29.*/, '[IBAN]');
      expect(redactIbans(line)).toBe(JSON.stringify({ msg: hidden }));
    },
  );

  it('keeps the ids that the gateway gives to requests readable', () => {
    for (let count = 0; count < 1_000; count += 1) {
      const id = createRequestIds()(undefined);
      for (const line of [`{"requestId":"${id}"}`, `{"msg":"request ${id}: 500"}`])
        expect(redactIbans(line)).toBe(line);
    }
  });

  it('keeps UUIDs and the ids of traces and documents readable', () => {
    fc.assert(
      fc.property(fc.uuid(), (uuid) => {
        for (const id of [uuid, `de89${uuid.replaceAll('-', '').slice(4)}`])
          expect(redactIbans(`{"requestId":"${id}"}`)).toBe(`{"requestId":"${id}"}`);
      }),
      { numRuns: rounds(200) },
    );
  });

  it('keeps the ids of orders readable in their field, and nowhere else', () => {
    const ids = [
      'a1b2c3d-DE89370400440532013000-e4f5a1b2c3d-',
      ...Array.from({ length: 1_000 }, (_, n) => toOrderId(`key-${n}`, 'shop')),
    ];
    for (const id of ids) expect(redactIbans(`{"level":30,"orderId":"${id}"}`)).toBe(`{"level":30,"orderId":"${id}"}`);
    for (const text of [`{"msg":"${ids[0]}"}`, JSON.stringify({ msg: `{"orderId":"${ids[0]}"}` })])
      expect(redactIbans(text)).not.toContain('DE89370400440532013000');
  });

  it.each([
    'Upstream answered 503 after 1200 ms; the next try is in 400 ms.',
    '{"level":30,"time":1767225600000,"msg":"listens on http://127.0.0.1:4000"}',
    'at file:///app/dist/services/bank-data/main.js:12:34',
    'description is of 900000 characters; at most 5000 are allowed',
    'the body is of 2000000000 bytes, it is 20000000 characters long',
    'BIC COBADEFFXXX, bank code 37040044, account 0532013000',
    'Version v20.20.2 of 2026-11-21T08:52:56.737Z',
    '',
  ])('does not change "%s"', (text) => {
    expect(redactIbans(text)).toBe(text);
  });
});

describe('createRedact', () => {
  it('hides secrets, also in their JSON-escaped form, and IBANs, and ignores empty secrets', () => {
    const redact = createRedact(['key-1', 'quo"ted\\key', '']);
    const text = `key-1 ${JSON.stringify('quo"ted\\key')} quo"ted\\key DE89370400440532013000`;
    expect(redact(text)).toBe('[hidden] "[hidden]" [hidden] [IBAN]');
  });
});

describe('createRedactions', () => {
  it('hides a secret in any case, and its base64 as it is', () => {
    const redact = createRedactions(['0123abcd4567cafe', 'Canary.Key']).redactSecrets;
    for (const echo of ['0123ABCD4567CAFE', '0123AbCd4567CaFe', 'CANARY.KEY', 'canary.key']) {
      expect(redact(`{"key":"${echo}"}`)).toBe('{"key":"[hidden]"}');
      expect(redact(`the key ${echo.slice(0, 6)}`, true)).toBe('the key [hidden]');
    }
    // Base64 in another case encodes another text.
    const base64 = Buffer.from('Canary.Key').toString('base64');
    expect(redact(base64)).toContain('[hidden]');
    expect(redact(base64.toUpperCase())).toBe(base64.toUpperCase());
  });

  it('hides a secret with other letters than those of English, also percent-encoded', () => {
    const redact = createRedactions(['schlüssel-😀-éa']).redactSecrets;
    const echoes = ['schlüssel-😀-éa', 'SCHLÜSSEL-😀-ÉA', encodeURIComponent('schlüssel-😀-éa')];
    for (const echo of echoes) expect(redact(`<${echo}>`)).toBe('<[hidden]>');
  });

  it('hides the whole of a secret that begins with another one, and all of several', () => {
    const redact = createRedactions(['seeded-key', 'seeded-key-2']).redactSecrets;
    expect(redact('seeded-key-2, seeded-key and seeded-%6bey')).toBe('[hidden], [hidden] and [hidden]');
  });

  it('keeps all that is not secret as it was, escapes included', () => {
    const redact = createRedactions(['seeded-key']).redactSecrets;
    const before = String.raw`C:\\new\t50 %41 \u0041 \/ 100%25 `;
    const after = String.raw` "\\" %zz \u12 \\`;
    expect(redact(String.raw`${before}\\\\seeded\-key${after}`)).toBe(`${before}[hidden]${after}`);
  });

  const redactSecrets = createRedactions(['seeded-key-1', 'short']).redactSecrets;

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

/** Its base64 contains `+` and `/`, and it contains characters that JSON and URLs escape. */
const secret = 'Seeded/key+"?~>>>\\~~~?-bI1';

describe.each([
  ['for the log', createRedact([secret])],
  ['for responses', createRedactions([secret, 'another-key']).redactSecrets],
])('a secret is redacted %s', (_, redact) => {
  it.each(formsOf(secret))('%s', (_, echo) => {
    const text = redact(`the key ${echo} is wrong`);
    expect(text).toMatch(/^the key .{0,4}\[hidden\].{0,8} is wrong$/);
    expect(text).not.toContain(coreOf(echo));
  });
});

it.each(formsOf(secret))('a secret that is cut off is redacted at the end of a truncated text: %s', (_, echo) => {
  const redactSecrets = createRedactions([secret]).redactSecrets;
  for (let length = 30; length < echo.length; length += 1) {
    const text = redactSecrets(`the key ${echo.slice(0, length)}`, true);
    expect(text).toMatch(/^the key .{0,4}\[hidden\].{0,8}$/);
  }
});

describe('JSON', () => {
  const redactSecrets = createRedactions([secret]).redactSecrets;

  it.each(formsOf(secret))('remains JSON without a secret in its names and values: %s', (_, echo) => {
    const text = JSON.stringify({ list: [{ a: `<${echo}>` }], [`<${echo}>`]: 1, other: 2 });
    const redacted: unknown = JSON.parse(redactSecrets(text));
    expect(JSON.stringify(redacted)).not.toContain(JSON.stringify(coreOf(echo)).slice(1, -1));
    const list = [{ a: expect.stringMatching(/^<.{0,4}\[hidden\].{0,8}>$/) }];
    expect(redacted).toMatchObject({ list, other: 2 });
  });
});

it.each(['\\', '%25', '\\u0073', '%', 'seeded', 'SEEDED', '\\/'])(
  'takes time linear in the length of a text of %j',
  (part) => {
    const redactSecrets = createRedactions([secret, 'seeded-key-0123456789']).redactSecrets;
    const { user } = process.cpuUsage();
    redactSecrets(`${part.repeat(1_000_000 / part.length)}x`, true);
    // Measured: at most 500 ms. Quadratic time takes minutes.
    expect((process.cpuUsage().user - user) / 1_000).toBeLessThan(10_000);
  },
);

/** The forms in which services echo a secret: the name of the form, and the secret in it. */
function formsOf(secret: string): [form: string, echo: string][] {
  const units = unitsOf(secret);
  const percent = percentOf(secret);
  const base64 = ['', 'x', 'xy'].map((before): [string, string] => [
    `base64 after ${before.length} bytes`,
    Buffer.from(`${before}${secret}z`).toString('base64'),
  ]);
  return [
    ['as it is', secret],
    ['in capital letters', secret.toUpperCase()],
    ['in letters of the other case', swapCase(secret)],
    ['in capital letters, as \\u escapes', unitsOf(secret.toUpperCase()).join('')],
    ['in letters of the other case, percent-encoded', percentOf(swapCase(secret))],
    ['as PHP writes it in JSON', JSON.stringify(secret).slice(1, -1).replaceAll('/', '\\/')],
    ['as \\u escapes', units.join('')],
    ['as \\u escapes in capital letters', units.map((unit) => `\\u${unit.slice(2).toUpperCase()}`).join('')],
    ['partly as \\u escapes', units.slice(0, 3).join('') + secret.slice(3)],
    ['as JSON within JSON', units.map((unit) => `\\${unit}`).join('')],
    ['URL-encoded', encodeURIComponent(secret)],
    ['percent-encoded', percent],
    ['percent-encoded twice', percent.replaceAll('%', '%25')],
    ...base64,
    ...base64.map(([form, echo]): [string, string] => [`${form}, as PHP writes it`, echo.replaceAll('/', '\\/')]),
    ...base64.map(([form, echo]): [string, string] => [`${form}, URL-encoded`, encodeURIComponent(echo)]),
    ['base64url', Buffer.from(secret).toString('base64url')],
  ];
}

function unitsOf(text: string): string[] {
  return [...text].map((character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function percentOf(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

function swapCase(text: string): string {
  return [...text]
    .map((letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()))
    .join('');
}

/** The part of an echo that is surely secret: the characters at its ends may encode neighbouring bytes. */
function coreOf(echo: string): string {
  return echo.slice(6, -6);
}
