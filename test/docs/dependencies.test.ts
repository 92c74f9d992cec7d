import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

it('gives a reason for each override in package.json, and for no other', () => {
  const { overrides } = JSON.parse(read('package.json')) as { overrides: object };
  const rows = [...read('docs/dependencies.md').matchAll(/^\| `([^`]+)` \| (\S.*) \|$/gm)];
  expect(rows.map(([, name]) => name)).toEqual(Object.keys(overrides));
  for (const [, , reason = ''] of rows) expect(reason).toMatch(/\.$/);
});

it('runs no install script of a package', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { hasInstallScript?: true }>;
  };
  const { allowScripts } = JSON.parse(read('package.json')) as { allowScripts: object };
  const withScript = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript);
  const names = withScript.map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
  expect(allowScripts).toEqual(Object.fromEntries(names.map((name) => [name, false])));
});
