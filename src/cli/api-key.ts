import { createHash, randomBytes } from 'node:crypto';
import { UsageError } from '../base/errors.ts';
import { print } from '../base/process/terminal.ts';
import { apiKeyList } from '../gateway/config/callers.ts';

/** Prints a new API key, and its entry for GATEWAY_API_KEYS and for the file. @throws UsageError if name or scopes are not valid */
export function printApiKey(name: string, scopes: string): void {
  // The prefix lets scanners of source code recognize a key that was published by mistake.
  const key = `lq_${randomBytes(32).toString('base64url')}`;
  const sha256 = createHash('sha256').update(key).digest('hex');
  const entry = `${name}:${sha256}:${scopes}`;
  const { error } = apiKeyList.safeParse(entry);
  if (error)
    throw new UsageError(`name or scopes are invalid: ${error.issues.map(({ message }) => message).join('; ')}`);
  const inFile = JSON.stringify({ name, sha256, scopes: scopes.split('+') });
  const lines = [
    `key, shown only now: ${key}`,
    `entry in GATEWAY_API_KEYS: ${entry}`,
    `entry in GATEWAY_API_KEYS_FILE, in the list "keys": ${inFile}`,
  ];
  print(`${lines.join('\n')}\n`);
}
