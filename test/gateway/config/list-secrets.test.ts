import { expect, it } from 'vitest';
import { createRedact } from '../../../src/base/redact.ts';
import { listSecrets, readConfig } from '../../../src/gateway/config/read-config.ts';

const bankDataKey = 'seeded-key-of-bank-data';
const essaysKey = 'seeded-key-of-essays';

function tSecrets(env = {}, bankDataUrl = 'http://bank-data', essaysUrl = 'https://essays.example') {
  const bankData = { url: bankDataUrl, apiKey: bankDataKey };
  return listSecrets(readConfig(env), { bankData, essays: { url: essaysUrl, apiKey: essaysKey } });
}

it('keys and hosts of upstreams are secrets', () => {
  const secrets = tSecrets({}, 'http://10.1.2.3', 'http://essays:8080/v1');
  expect(secrets).toEqual(expect.arrayContaining([bankDataKey, essaysKey, '10.1.2.3', 'essays:8080']));
});

it.each(['http://bank-data', 'http://essays/v1', 'https://api'])(
  'the host of %s is none, because other texts contain this word',
  (url) => {
    const line = '{"service":"bank-data","caller":"api-key:shop","msg":"the store failed: essays are buffered"}';
    expect(createRedact(tSecrets({}, url))(line)).toBe(line);
  },
);

it('words in a header of the collector or as the password of Redis are none', () => {
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20seeded-collector-key,x-dataset=ledgerquill',
    REDIS_URL: 'redis://:bank-data@127.0.0.1',
    STORE_SECRET: 'seeded-secret-of-the-store',
  };
  const secrets = tSecrets(env);
  expect(secrets).toEqual(expect.arrayContaining(['seeded-collector-key', 'seeded-secret-of-the-store']));
  expect(secrets).not.toContain('ledgerquill');
  expect(secrets).not.toContain('bank-data');
});
