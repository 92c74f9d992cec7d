import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/*
 * `npm run package`, after the build: packs the package for `npm install` into the folder `--output`, or copies its content
 * to the new folder `--folder`. It depends only on the packages that the bundle does not contain: the others would take
 * another 60 MB, and `overrides` do not apply to installed packages.
 */

const root = fileURLToPath(new URL('..', import.meta.url));

/** Packages that `src` loads with `require`: a native library, two that few need, and lists that are read by their path. */
export const unbundledPackages = ['bankdata-germany', 'i18n-iso-countries', 'ioredis', 'lmdb', 'pino-pretty'];

/** Copies the content of the package to a folder. */
export function stagePackage(folder: string): void {
  const { name, version, description, license, type, engines, bin, exports, files } = readJson('package.json');
  mkdirSync(folder, { recursive: true });
  for (const path of ['README.md', 'LICENSE', ...files])
    cpSync(join(root, path), join(folder, path), { recursive: true });
  const { packages } = readJson('package-lock.json');
  const dependencies = Object.fromEntries(unbundledPackages.map((id) => [id, packages[`node_modules/${id}`].version]));
  const manifest = { name, version, description, license, type, engines, bin, exports, dependencies };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

function readJson(path: string) {
  return JSON.parse(readFileSync(join(root, path), 'utf8'));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { folder, output } = parseArgs({ options: { folder: { type: 'string' }, output: { type: 'string' } } }).values;
  if (folder) stagePackage(folder);
  else packPackage(output ?? root);
}

function packPackage(output: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerquill-package-'));
  try {
    stagePackage(folder);
    execFileSync('npm', ['pack', folder, '--loglevel=error'], { cwd: output, stdio: 'inherit' });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
