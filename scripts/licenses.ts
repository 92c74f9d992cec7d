/** The part of package-lock.json that this check reads. */
export interface LockFile {
  packages: Readonly<Record<string, { license?: string; dev?: boolean }>>;
}

/** The packages of the production tree, by path, whose license is unknown or not permissive. */
export function findLicenseProblems({ packages }: LockFile): string[] {
  return Object.entries(packages)
    .filter(([path, { dev, license }]) => path !== '' && dev !== true && !isPermissive(license))
    .map(([path, { license = 'no license' }]) => `${path}: ${license}`);
}

/** Licenses that require only their text and the name of the author: https://spdx.org/licenses/ */
const permissive: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'Unlicense',
]);

/** Of an expression with OR, one license is enough. An expression with AND is never permissive, which is strict. */
function isPermissive(license = ''): boolean {
  const choices = license.replace(/^\((.*)\)$/, '$1').split(/ or /i);
  return choices.some((choice) => permissive.has(choice));
}
