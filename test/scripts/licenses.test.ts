import { expect, it } from 'vitest';
import { findLicenseProblems } from '../../scripts/licenses.ts';

it.each(['MIT', 'ISC', 'Apache-2.0', 'MIT OR MPL-2.0', '(GPL-3.0-only OR BSD-3-Clause)'])('accepts %s', (license) => {
  expect(findLicenseProblems({ packages: { '': {}, 'node_modules/a': { license } } })).toEqual([]);
});

it.each(['Elastic-2.0', 'MPL-2.0', 'MIT AND GPL-3.0-only', 'UNLICENSED', undefined])('reports %s', (license) => {
  const found = license === undefined ? {} : { license };
  expect(findLicenseProblems({ packages: { '': {}, 'node_modules/a': found } })).toEqual([
    `node_modules/a: ${license ?? 'no license'}`,
  ]);
});

it('ignores development dependencies', () => {
  expect(findLicenseProblems({ packages: { 'node_modules/a': { license: 'Elastic-2.0', dev: true } } })).toEqual([]);
});
