import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, errorCodeOf } from '../errors.ts';
import { createFile } from './create-file.ts';
import { StoreError } from './store.ts';

/**
 * The secret that encrypts the embedded store. Generated on first use, in a file that only its owner can read.
 * @throws StoreError if it cannot be created; ConfigError if the file is incomplete
 */
export function readOrCreateSecret(folder: string): string {
  try {
    createFile(join(folder, fileName), randomBytes(32).toString('base64url'));
  } catch (error) {
    throw new StoreError(`DATA_DIR is not writable (${errorCodeOf(error) ?? 'unknown'})`);
  }
  return readSecret(folder);
}

/** @throws ConfigError if the file exists and its secret is incomplete or cannot be read */
export function checkSecret(folder: string): void {
  if (existsSync(join(folder, fileName))) readSecret(folder);
}

function readSecret(folder: string): string {
  const path = join(folder, fileName);
  let secret: string;
  try {
    secret = readFileSync(path, 'utf8');
  } catch {
    throw new ConfigError([`DATA_DIR: ${path} cannot be read; allow the user of the gateway to read it`]);
  }
  if (secret.length >= secretLength) return secret;
  throw new ConfigError([
    `DATA_DIR: ${path} has ${secret.length} characters and must have ${secretLength}: it encrypts the stored essays; ` +
      'restore it from a backup, or delete it, and lose the essays that it encrypted',
  ]);
}

const fileName = 'store-secret';
/** Characters of 32 bytes in Base64url. */
const secretLength = 43;
