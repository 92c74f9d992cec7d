import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { OnFinished } from '../../process.ts';

/** An empty folder, removed when the test ends. */
export function tFolder(onFinished: OnFinished = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerquill-store-'));
  onFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
