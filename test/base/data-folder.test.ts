import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkDataFolder } from '../../src/base/data-folder.ts';
import { ConfigError } from '../../src/base/errors.ts';
import { canMount, tFolder } from '../support/gateway/stores/folder.ts';

function findProblem(folder: string): string {
  try {
    checkDataFolder(folder);
    return '';
  } catch (error) {
    return error instanceof ConfigError ? error.message : expect.unreachable(String(error));
  }
}

const isRoot = process.getuid?.() === 0;

/** Unlike a missing tool, missing rights cannot be installed, so these tests do not count as skipped. */
function itWhere(hasRights: boolean) {
  return (title: string, run: () => void) => {
    if (hasRights) it(title, run);
    else process.stderr.write(`SKIPPED, for lack of rights or because of too many: ${title}\n`);
  };
}

const mount = (...args: string[]) => expect(spawnSync('mount', args).status).toBe(0);

describe('the check of DATA_DIR', () => {
  it('creates the folder for its owner only, and leaves nothing in it', () => {
    const folder = join(tFolder(), 'var', 'data');
    expect(findProblem(folder)).toBe('');
    expect(findProblem(folder)).toBe('');
    expect(readdirSync(folder)).toEqual([]);
    expect((statSync(folder).mode & 0o777).toString(8)).toBe('700');
  });

  it.each([
    ['/proc/nope', 'cannot be created (ENOENT)'],
    ['/proc/nope/data', 'cannot be created (ENOENT)'],
    [join(import.meta.filename, 'data'), 'is a file, or is in one (ENOTDIR)'],
    [import.meta.filename, 'is a file, or is in one (ENOTDIR)'],
  ])('describes why %s cannot be used', (folder, reason) => {
    const expected = /DATA_DIR: must be a folder in which user \d+ can create files, such as .data or/;
    expect(findProblem(folder)).toMatch(expected);
    expect(findProblem(folder)).toContain(`but "${folder}" ${reason}`);
  });

  itWhere(!isRoot)('describes that the folder does not permit it', () => {
    const folder = tFolder();
    chmodSync(folder, 0o500);
    expect(findProblem(folder)).toContain('does not permit it (EACCES)');
  });

  itWhere(canMount)('accepts a full disk, and describes that a file system is read-only', () => {
    const folder = join(tFolder(), 'disk');
    mkdirSync(folder);
    mount('-t', 'tmpfs', '-o', 'size=64k,nr_inodes=2', 'tmpfs', folder);
    onTestFinished(() => void spawnSync('umount', [folder]));
    writeFileSync(join(folder, 'other'), '');
    expect(() => writeFileSync(join(folder, 'another'), '')).toThrow('ENOSPC');
    expect(findProblem(folder)).toBe('');
    mount('-o', 'remount,ro', folder);
    expect(findProblem(folder)).toContain('is on a read-only file system (EROFS)');
  });
});
