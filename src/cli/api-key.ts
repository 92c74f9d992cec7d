import { createHash, randomBytes } from 'node:crypto';
import { apiKeyList } from '../config/api-key-entries.ts';
import { ConfigError } from '../errors.ts';
import { runMain } from '../run-main.ts';

/* Prints a new API key, and its entry for GATEWAY_API_KEYS: npm run api-key -- NAME [SCOPE+SCOPE] */

await runMain(async () => {
  const [name = '', scopes = 'bank-data+essays'] = process.argv.slice(2);
  // The prefix lets scanners of source code recognize a key that was published by mistake.
  const key = `lq_${randomBytes(32).toString('base64url')}`;
  const entry = `${name}:${createHash('sha256').update(key).digest('hex')}:${scopes}`;
  const { error } = apiKeyList.safeParse(entry);
  if (error) {
    throw new ConfigError([
      ...error.issues.map(({ message }) => message),
      'usage: npm run api-key -- NAME [SCOPE+SCOPE]',
    ]);
  }
  const lines = [`key, shown only now: ${key}`, `entry in GATEWAY_API_KEYS: ${entry}`, ''];
  process.stdout.write(lines.join('\n'));
});
