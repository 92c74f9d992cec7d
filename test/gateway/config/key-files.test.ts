import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createRedactions } from '../../../src/base/redact.ts';
import { followSecretFiles } from '../../../src/base/variables/follow-secret-file.ts';
import { keyFileOf } from '../../../src/gateway/config/read-config.ts';
import { createMetrics } from '../../../src/gateway/telemetry/metrics/metrics.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { bankDataKey, tGateway } from '../../support/gateway.ts';
import { tIban } from '../../support/ibans.ts';
import { noUpstreams, tGatewayProcess } from '../../support/process.ts';
import { replyJson, tUpstream } from '../../support/scripted-upstream.ts';

const newKey = 'seeded-new-key-b2';
const newestKey = 'seeded-newest-key-b3';
/** A busy machine reports changes of files late. */
const untilSeen = { timeout: 100_000 };

function tKeyFile(key: string): string {
  const file = join(tFolder(), 'key');
  writeFileSync(file, `${key}\n`);
  return file;
}

const keyFile = 'BANK_DATA_API_KEY_FILE';

function tKeys(file: string) {
  const reported: unknown[] = [];
  const redactions = createRedactions([bankDataKey]);
  const bankData = { url: 'https://bank.example', apiKey: bankDataKey, apiKeyFile: file };
  const essays = { url: 'https://essays.example', apiKey: 'seeded-essays-key' };
  const files = [keyFileOf('BANK_DATA_API_KEY', bankData), keyFileOf('ESSAY_API_KEY', essays)];
  const { reload, close } = followSecretFiles(files, {
    hideSecret: redactions.add,
    events: {
      fileReloaded: (name) => reported.push(name),
      fileInvalid: (name, reason) => reported.push([name, reason]),
    },
  });
  onTestFinished(close);
  return { keys: { bankData, essays, reload }, reported, redact: redactions.redact };
}

it('reads the key again when its file is written or replaced, and hides the old and the new one', async () => {
  const file = tKeyFile(bankDataKey);
  const { keys, reported, redact } = tKeys(file);
  expect([keys.bankData.apiKey, reported]).toEqual([bankDataKey, []]);

  writeFileSync(file, newKey);
  await expect.poll(() => keys.bankData.apiKey, untilSeen).toBe(newKey);
  writeFileSync(`${file}.new`, newestKey);
  renameSync(`${file}.new`, file);
  await expect.poll(() => keys.bankData.apiKey, untilSeen).toBe(newestKey);
  expect(reported).toEqual([keyFile, keyFile]);
  expect(redact(`${bankDataKey} ${newKey} ${newestKey}`)).toBe('[hidden] [hidden] [hidden]');
  expect(keys.essays.apiKey).toBe('seeded-essays-key');
}, 100_000);

it('uses the key of a file that changed after the configuration was read', () => {
  expect(tKeys(tKeyFile(newKey)).keys.bankData.apiKey).toBe(newKey);
});

it.each([
  ['is empty', '\n', /^the file is empty; it must contain the value of BANK_DATA_API_KEY$/],
  ['has a short key', 'abc', /^the value of BANK_DATA_API_KEY in the file must have at least 8 characters$/],
  ['has two lines', `${newKey}\n${newKey}`, /^the value of BANK_DATA_API_KEY in the file must be printable ASCII/],
  ['is missing', null, /^the file cannot be read \(ENOENT\)/],
])('leaves the last key in use if the file %s, until it is valid', (_, text, problem) => {
  const file = tKeyFile(newKey);
  const { keys, reported } = tKeys(file);
  if (text === null) rmSync(file);
  else writeFileSync(file, text);
  keys.reload();
  expect(keys.bankData.apiKey).toBe(newKey);
  expect(reported).toEqual([keyFile, [keyFile, expect.stringMatching(problem)]]);
  expect(JSON.stringify(reported)).not.toContain(newKey);

  writeFileSync(file, newKey);
  keys.reload();
  keys.reload();
  expect(reported.slice(2)).toEqual([keyFile]);
});

it('shows an invalid file in the metrics until it is valid, and no other', () => {
  const { events, counted } = createMetrics();
  const invalid = () => {
    const samples = counted.collect('ledgerquill_configured_file_valid') ?? [];
    expect(samples.length).toBe(7);
    return samples.flatMap(({ labels, value }) => (value === 0 && labels ? labels.file : []));
  };
  expect(invalid()).toEqual([]);
  events.fileInvalid?.('ESSAY_API_KEY_FILE', 'the file is empty');
  events.fileInvalid?.('TRUSTED_DOCUMENTS', 'the file is missing');
  events.fileInvalid?.('GATEWAY_API_KEYS_FILE', 'the file is missing');
  expect(invalid()).toEqual(['ESSAY_API_KEY_FILE', 'GATEWAY_API_KEYS_FILE', 'TRUSTED_DOCUMENTS']);
  events.fileReloaded?.('ESSAY_API_KEY_FILE');
  events.fileReloaded?.('TRUSTED_DOCUMENTS', 1);
  expect(invalid()).toEqual(['GATEWAY_API_KEYS_FILE']);
});

it('replaces the key under load without a failed look-up', async () => {
  const file = tKeyFile(bankDataKey);
  const accepted = new Set<unknown>([bankDataKey, newKey]);
  const upstream = await tUpstream((response, call) =>
    replyJson(accepted.has(call.headers.apikey) ? 200 : 401, { valid: true })(response, call),
  );
  const { ask, log } = tGateway({ bankDataUrl: upstream.url, bankDataKeyFile: file });
  let account = 0;
  const askForTen = async () => {
    const ibans = Array.from({ length: 10 }, () => tIban(account++));
    const { data, errors } = await ask('query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { valid } }', {
      ibans,
    });
    expect(errors).toBeUndefined();
    expect(data?.ibanValidations).toEqual(ibans.map(() => ({ valid: true })));
  };
  await askForTen();
  writeFileSync(file, newKey);
  await vi.waitUntil(async () => {
    await Promise.all([askForTen(), askForTen()]);
    return upstream.calls.at(-1)?.headers.apikey === newKey;
  }, untilSeen);
  accepted.delete(bankDataKey);
  await Promise.all([askForTen(), askForTen()]);
  expect(upstream.calls.length).toBe(account);
  expect(log()).toContain('"variable":"BANK_DATA_API_KEY_FILE","msg":"a configured file was read again"');
  expect(log()).not.toMatch(/seeded-(?:bank-data|new)-key/);
}, 100_000);

it('reads the files again at SIGHUP', async () => {
  const upstream = await tUpstream(replyJson(200, { valid: true }));
  const file = tKeyFile(newKey);
  const { BANK_DATA_API_KEY: _, ...env } = { ...noUpstreams, BANK_DATA_URL: upstream.url };
  const { process: gateway, ask } = await tGatewayProcess({ ...env, BANK_DATA_API_KEY_FILE: file });
  writeFileSync(file, '\n');
  gateway.kill('SIGHUP');
  const isLogged = (text: string) => vi.waitFor(() => expect(gateway.stderr()).toContain(text), untilSeen);
  await isLogged('a configured file is invalid: its last valid content remains in use');
  writeFileSync(file, newestKey);
  gateway.kill('SIGHUP');
  await isLogged('"variable":"BANK_DATA_API_KEY_FILE","msg":"a configured file was read again"');
  await ask(`{ ibanValidation(iban: "${tIban(1)}") { valid } }`);
  expect(upstream.calls.map(({ headers }) => headers.apikey)).toEqual([newestKey]);
}, 100_000);
