import { readFileSync } from 'node:fs';
import {
  isObjectType,
  Kind,
  KnownDirectivesRule,
  NoUnusedFragmentsRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { schema } from '../../src/gateway/graphql/schema/schema.ts';
import { type FencedBlock, fencedBlocks, runBlock, whyNoCurl } from '../support/docs/blocks.ts';

/* Runs or validates every code block of docs/clients.md. Files of projects are compiled by test/long/client-tools.test.ts. */

const page = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8');
const blocks = fencedBlocks(page).filter(({ file }) => file === null);
const named = (languages: string[]) =>
  blocks
    .filter(({ language }) => languages.includes(language))
    .map((block) => [`line ${block.line}, ${block.heading}`, block] as const);

describe('docs/clients.md', () => {
  it('has only blocks that are run or validated', () => {
    const kinds = blocks.map(({ language }, index) => [language, blocks[index + 1]?.language]);
    for (const [language, next] of kinds) {
      if (language === 'js') expect(next).toBe('text');
      else if (language === 'sh') expect(next).toBe('json');
      else expect(['text', 'json', 'graphql']).toContain(language);
    }
    expect(page.match(/^```\w/gm)).toHaveLength(fencedBlocks(page).length);
    expect(named(['js', 'sh']).length).toBeGreaterThanOrEqual(10);
  });

  it('lists every package that the examples import, with the packages that it requires', () => {
    const commands = [...page.matchAll(/`npm install ([^`]+)`/g)].map(([, names = '']) =>
      names.split(' ').map((name) => name.replace(/(?<=.)@\d+$/, '')),
    );
    const imports = named(['js']).flatMap(([, { text }]) => [...text.matchAll(/ from '((?:@[^/']+\/)?[^/']+)/g)]);
    const packages = new Set(imports.map(([, name = '']) => name).filter((name) => !/^(node:|\.)/.test(name)));
    expect(packages.size).toBeGreaterThanOrEqual(3);
    for (const name of packages) {
      const { peerDependencies = {}, peerDependenciesMeta = {} } = readPackage(name);
      const required = Object.keys(peerDependencies).filter((peer) => !peerDependenciesMeta[peer]?.optional);
      const command = commands.find(([first]) => first === name);
      expect(command).toEqual(expect.arrayContaining([name, ...required]));
    }
  });

  it.each(['codegen.ts', 'relay.config.json', 'src/graphql.ts'])('declares the type of every scalar in %s', (name) => {
    const sdl = readFileSync(new URL('../../schema.client.graphql', import.meta.url), 'utf8');
    const scalars = [...sdl.matchAll(/^scalar (\w+)/gm)].map(([, scalar]) => scalar);
    expect(scalars.length).toBeGreaterThan(2);
    const text = fencedBlocks(page).find(({ file }) => file === name)?.text ?? '';
    expect(scalars.filter((scalar) => !new RegExp(`\\b${scalar}"?: ['"]?string`).test(text))).toEqual([]);
  });

  it.each(named(['js']))('shows the real output: %s', (_, block) => expectPrinted(block));
  it.skipIf(whyNoCurl).each(named(['sh']))(`shows the real output: %s${whyNoCurl}`, (_, block) => expectPrinted(block));

  const operations = named(['graphql']).filter(([, { text }]) => !text.startsWith('extend'));
  it.each(operations)('has valid operations: %s', (_, { text }) => {
    // Relay's compiler removes its own directives, and components use its fragments.
    const rules = specifiedRules.filter((rule) => rule !== KnownDirectivesRule && rule !== NoUnusedFragmentsRule);
    expect(validate(schema, parse(text), rules)).toEqual([]);
  });

  const policies = named(['graphql']).filter(([, { text }]) => text.startsWith('extend'));
  it.each(policies)('uses key fields that exist and are not nullable: %s', (_, { text }) => {
    for (const definition of parse(text).definitions) {
      if (definition.kind !== Kind.OBJECT_TYPE_EXTENSION) throw new Error(`unexpected ${definition.kind}`);
      const key = definition.directives?.[0]?.arguments?.[0]?.value;
      const type = schema.getType(definition.name.value);
      const field = isObjectType(type) && key?.kind === Kind.STRING ? type.getFields()[key.value] : undefined;
      expect(String(field?.type)).toMatch(/^(ID|IBAN|BIC)!$/);
    }
  });
});

interface Package {
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
}

function readPackage(name: string): Package {
  return JSON.parse(readFileSync(new URL(`../../node_modules/${name}/package.json`, import.meta.url), 'utf8'));
}

async function expectPrinted(block: FencedBlock): Promise<void> {
  const expected = blocks[blocks.indexOf(block) + 1]?.text ?? '';
  expect((await runBlock(block, expected)).trimEnd()).toBe(expected.trimEnd());
}
