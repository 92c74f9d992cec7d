import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmdirSync } from 'node:fs';

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
