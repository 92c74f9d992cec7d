import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import type * as z from 'zod';
import { printedPages, printTables } from '../../scripts/print-tables.ts';
import { ruleTexts, sourceTexts } from '../../scripts/rule-texts.ts';
import { variableTexts } from '../../scripts/variable-texts.ts';
import { rules } from '../../src/check/finding.ts';
import { gatewayVariables, knownVariables } from '../../src/gateway/config/variables.ts';

/* What the pages list is what the code has. */

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('every environment variable', () => {
  const variables = knownVariables.toSorted();

  it('is documented in docs/configuration.md', () => {
    const cells = [...read('docs/configuration.md').matchAll(/^\| (`[A-Z][^|]+`) \|/gm)].map(([, cell]) => cell ?? '');
    const names = cells.flatMap((cell) => [...cell.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name));
    expect(names.toSorted()).toEqual(variables);
  });

  it('has the default that docs/configuration.md says', () => {
    const shape: Readonly<Record<string, z.ZodType>> = gatewayVariables;
    const wrong = Object.values(variableTexts)
      .flat()
      .flatMap(([names, byDefault]) => {
        const listed = [...byDefault.matchAll(/`([^`]*)`/g)].map(([, text = '']) => text);
        const of = [...names.matchAll(/`([A-Z_]+)`/g)].map(([, name = '']) => name);
        // Others depend on further variables.
        return listed.length === of.length ? of.map((name, index) => ({ name, listed: listed[index] })) : [];
      })
      .filter(({ name, listed }) => {
        const value: unknown = shape[name]?.safeParse(undefined).data;
        const scopes = Array.isArray(value) ? value.join('+') : value;
        const shown = typeof scopes === 'boolean' ? (scopes ? 'on' : 'off') : scopes;
        return shown !== undefined && String(shown) !== listed;
      });
    expect(wrong).toEqual([]);
  });

  it('is listed in .env.example', () => {
    const names = [...read('.env.example').matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name);
    expect(names.toSorted()).toEqual(variables);
  });
});

it.each(printedPages)('%s has the tables that follow from the code: run npm run tables', (path) => {
  // Which of the bank lists are in use depends on the day.
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-27') });
  expect(read(path)).toBe(printTables(path, read(path)));
});

describe('docs/payment-messages.md', () => {
  it('says of each rule what was found, and of no two the same', () => {
    const texts = Object.values(ruleTexts);
    for (const [found, right] of texts) expect([found, right].join()).toMatch(/^[A-Z].{9,},[\w`].{5}/);
    expect(new Set(texts.map(([found]) => found)).size).toBe(texts.length);
  });

  it('names every source', () => {
    const named = sourceTexts.map(([names]) => names).join();
    const sources = Object.values(rules).flatMap(({ source }) => source.split(', '));
    const documents = sources.filter((source) => source !== 'Ledgerquill' && source !== 'The bank-data service');
    for (const name of new Set(documents)) expect(named).toContain(name);
  });
});

it('package.json forbids the install script of each package that has one', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { hasInstallScript?: true }>;
  };
  const { allowScripts } = JSON.parse(read('package.json')) as { allowScripts: object };
  const withScript = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript);
  const names = withScript.map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
  expect(allowScripts).toEqual(Object.fromEntries(names.map((name) => [name, false])));
});
