import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { tFolder } from './gateway/stores/folder.ts';

const canMount = spawnSync('unshare', ['--mount', 'true']).status === 0;

/** For titles of tests that need `tDisk`: why they are skipped; empty if they are not. */
export const whyNoMount = canMount ? '' : ' (SKIPPED: this user cannot mount a small disk; run the test as root)';

/** A disk with this much free space; the rest is the file `other`. */
export function tDisk(freeKb: number, sizeKb = 512): string {
  const folder = join(tFolder(), 'disk');
  mkdirSync(folder);
  expect(spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeKb}k,mode=700`, 'tmpfs', folder]).status).toBe(0);
  onTestFinished(() => void spawnSync('umount', [folder]));
  writeFileSync(join(folder, 'other'), Buffer.alloc((sizeKb - freeKb) * 1_024));
  return folder;
}
