import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCodeOf } from '../errors.ts';
import { StoreError } from './store.ts';

/**
 * The secret that encrypts the embedded store. Generated on first use, in a file that only its owner can read. Processes that start at the same time get the same secret. @throws StoreError if the folder is not writable
 */
export function readOrCreateSecret(folder: string): string {
  const file = join(folder, 'store-secret');
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, randomBytes(32).toString('base64url'), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const code = errorCodeOf(error);
    if (code !== 'EEXIST') throw new StoreError(`DATA_DIR is not writable (${code ?? 'unknown'})`);
  }
  return readFileSync(file, 'utf8');
}
