import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { knownVariables } from '../../src/config/variables.ts';

const variables = knownVariables.toSorted();
const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

describe('every environment variable', () => {
  it('is documented in docs/configuration.md', () => {
    const cells = [...read('docs/configuration.md').matchAll(/^\| (`[A-Z][^|]+`) \|/gm)].map(([, cell]) => cell ?? '');
    const names = cells.flatMap((cell) => [...cell.matchAll(/`(\.*)([A-Z_]+)`/g)].map(expandName));
    expect(names.toSorted()).toEqual(variables);
  });

  it('is listed in .env.example', () => {
    const names = [...read('.env.example').matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name);
    expect(names.toSorted()).toEqual(variables);
  });
});

/** The table abbreviates `ESSAY_MODE_STANDARD`, `..._ACADEMIC` and so on. */
function expandName([, dots = '', name = '']: RegExpMatchArray): string {
  return dots === '' ? name : `ESSAY_MODE${name}`;
}
