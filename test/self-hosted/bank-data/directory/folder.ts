import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** An empty folder that is gone when the test is. */
export function tFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerquill-banks-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
