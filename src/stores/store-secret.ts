import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCodeOf } from '../errors.ts';
import { StoreError } from './store.ts';

/**
 * The secret that seals the embedded store: made at the first start and kept beside the store, readable by its owner
 * only. Whoever starts at the same time gets the same one. @throws StoreError where the folder cannot be written
 */
export function readOrMakeSecret(folder: string): string {
  const file = join(folder, 'store-secret');
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, randomBytes(32).toString('base64url'), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const code = errorCodeOf(error);
    if (code !== 'EEXIST') throw new StoreError(`DATA_DIR cannot be written (${code ?? 'unknown'})`);
  }
  return readFileSync(file, 'utf8');
}
