import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readEssayServiceConfig } from '../../../src/base/variables/service-config.ts';
import { readConfig } from '../../../src/gateway/config/read-config.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';

const secret = 'seeded-secret-value';

function tFile(text: string): string {
  const file = join(tFolder(), 'secret');
  writeFileSync(file, text);
  return file;
}

describe('a secret in a file', () => {
  it('is read without the line break at the end', () => {
    const env = {
      BANK_DATA_URL: 'https://bank.example',
      BANK_DATA_API_KEY_FILE: tFile(`${secret}-b\n`),
      ESSAY_URL: 'https://essay.example',
      ESSAY_API_KEY_FILE: tFile(`${secret}-e\r\n`),
      LLM_URL: 'https://llm.example',
      LLM_MODEL: 'm',
      LLM_API_KEY_FILE: tFile(`${secret}-l`),
      REDIS_URL_FILE: tFile('redis://:password@redis.example\n'),
      STORE_SECRET_FILE: tFile(`${secret}-s\n`),
      ROUTER_SECRET_FILE: tFile(`${secret}-${secret}\n`),
    };
    expect(readConfig(env)).toMatchObject({
      bankData: { upstream: { apiKey: `${secret}-b` } },
      essays: { upstream: { apiKey: `${secret}-e` } },
      essayService: { llm: { apiKey: `${secret}-l` } },
      store: { redis: { addresses: [{ host: 'redis.example' }], password: 'password' }, secret: `${secret}-s` },
      access: { router: { secrets: [`${secret}-${secret}`] } },
    });
  });

  it('is read by the self-hosted services too', () => {
    expect(readEssayServiceConfig({ ESSAY_API_KEY_FILE: tFile(secret) }).apiKey).toBe(secret);
  });

  it('is refused if it is too short', () => {
    expect(() => readConfig({ STORE_SECRET_FILE: tFile('short\n') })).toThrow(
      'STORE_SECRET_FILE: its value must have at least 16',
    );
  });
});
