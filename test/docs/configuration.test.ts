import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bankDataServiceVariables, essayServiceVariables, gatewayVariables } from '../../src/config/variables.ts';

/* What may be configured is told in two places, and nothing else is. */

const variables = Object.keys({
  ...gatewayVariables,
  ...bankDataServiceVariables,
  ...essayServiceVariables,
}).toSorted();
const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

describe('every environment variable', () => {
  it('stands in the README’s table', () => {
    const [, section = ''] = read('README.md').match(/\n## Configuration\n([\s\S]*?)\n## /) ?? [];
    const cells = [...section.matchAll(/^\| (`[A-Z][^|]+`) \|/gm)].map(([, cell]) => cell ?? '');
    const names = cells.flatMap((cell) => [...cell.matchAll(/`(\.*)([A-Z_]+)`/g)].map(spelledOut));
    expect(names.toSorted()).toEqual(variables);
  });

  it('stands in .env.example', () => {
    const names = [...read('.env.example').matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name);
    expect(names.toSorted()).toEqual(variables);
  });
});

/** The table writes `ESSAY_MODE_STANDARD`, `..._ACADEMIC` and so on. */
function spelledOut([, dots = '', name = '']: RegExpMatchArray): string {
  return dots === '' ? name : `ESSAY_MODE${name}`;
}
