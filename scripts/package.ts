import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * `npm run package`, after the build: packs the package for `npm install`. It depends only on what the bundle does not
 * contain: the others would take another 60 MB, and `overrides` do not apply to installed packages.
 */

const root = fileURLToPath(new URL('..', import.meta.url));

/** Packages that `src` loads with `require`: a native library, two that few need, and lists that are read by their path. */
export const unbundledPackages = [
  'bankdata-germany',
  'i18n-iso-countries',
  'iban-to-bic',
  'ioredis',
  'lmdb',
  'pino-pretty',
];

/** Copies the content of the package to a folder. @param project with its build */
export function stagePackage(folder: string, project = root): void {
  const readJson = (path: string) => JSON.parse(readFileSync(join(project, path), 'utf8'));
  const { name, version, description, license, type, engines, bin, files } = readJson('package.json');
  for (const path of ['README.md', 'LICENSE', ...files])
    cpSync(join(project, path), join(folder, path), { recursive: true });
  const { packages } = readJson('package-lock.json');
  const dependencies = Object.fromEntries(unbundledPackages.map((id) => [id, packages[`node_modules/${id}`].version]));
  const manifest = { name, version, description, license, type, engines, bin, dependencies };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerquill-package-'));
  try {
    stagePackage(folder);
    execFileSync('npm', ['pack', folder], { cwd: root, stdio: 'inherit' });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
