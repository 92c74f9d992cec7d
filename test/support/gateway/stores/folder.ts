import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { OnFinished } from '../../process.ts';

/** An empty folder, removed when the test ends. */
export function tFolder(onFinished: OnFinished = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerquill-store-'));
  onFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const status = existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'utf8') : '';
const [, capabilities = '0'] = /^CapEff:\s+([0-9a-f]+)$/m.exec(status) ?? [];
/** CAP_SYS_ADMIN: https://man7.org/linux/man-pages/man7/capabilities.7.html */
export const canMount = (BigInt(`0x${capabilities}`) & (1n << 21n)) !== 0n;

/** For titles of tests that need `tDisk`: why they are skipped; empty if they are not. */
export const whyNoMount = canMount ? '' : ' (SKIPPED: this user cannot mount a small disk; run the test as root)';

/** A disk for one test, with this much free space; the rest is the file `other`. */
export function tDisk(freeKb: number, sizeKb = 8_192): string {
  // The worker has one disk of each size; `global-setup.ts` unmounts them after the tests.
  const folder = join(tmpdir(), `ledgerquill-disk-${process.ppid}-${process.pid}-${sizeKb}`);
  if (!existsSync(folder)) {
    mkdirSync(folder);
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeKb}k,mode=700`, 'tmpfs', folder]).status).toBe(0);
  }
  const clear = () => {
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
  };
  clear();
  onTestFinished(clear);
  writeFileSync(join(folder, 'other'), Buffer.alloc((sizeKb - freeKb) * 1_024));
  // A file that was deleted takes space as long as it is open.
  const { bavail, bsize } = statfsSync(folder);
  expect(bavail * bsize).toBe(freeKb * 1_024);
  return folder;
}
