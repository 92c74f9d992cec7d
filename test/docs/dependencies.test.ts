import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

it('gives a reason for each override in package.json, and for no other', () => {
  const { overrides } = JSON.parse(read('package.json')) as { overrides: object };
  const rows = [...read('docs/dependencies.md').matchAll(/^\| `([^`]+)` \| (\S.*) \|$/gm)];
  expect(rows.map(([, name]) => name)).toEqual(Object.keys(overrides));
  for (const [, , reason = ''] of rows) expect(reason).toMatch(/\.$/);
});
