import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmdirSync } from 'node:fs';
import type { TestProject } from 'vitest/node';

/** Before all tests: brings `dist` up to date once, for those that run built files. Does nothing where it is. */
export function setup(project: TestProject): void {
  build();
  project.onTestsRerun(async () => build());
}

function build(): void {
  const root = new URL('../..', import.meta.url);
  const args = ['--import', 'tsx', 'scripts/build.ts'];
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error(`scripts/build.ts ended with ${status}`);
}

const folder = new URL('../../.data', import.meta.url);
const existed = existsSync(folder);

/**
 * After all tests: unmounts the disks of workers. None of the tests has used the data folder of the checkout, whose imports would change
 * their results.
 */
export function teardown(): void {
  unmountDisks();
  if (existed || !existsSync(folder)) return;
  process.stderr.write('A test has created .data: give its processes a DATA_DIR.\n');
  process.exitCode = 1;
}

function unmountDisks(): void {
  const mounts = existsSync('/proc/mounts') ? readFileSync('/proc/mounts', 'utf8') : '';
  const disks = mounts.split(/\s/).filter((path) => path.includes(`/ledgerquill-disk-${process.pid}-`));
  if (disks.length === 0) return;
  spawnSync('umount', disks, { stdio: 'inherit' });
  for (const disk of disks) rmdirSync(disk);
}
