import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  isAbstractType,
  isObjectType,
  Kind,
  KnownDirectivesRule,
  NoUnusedFragmentsRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { schema } from '../../src/graphql/schema/schema.ts';
import { tGateway } from '../gateway.ts';
import { tBankDataService, tEssayService } from '../self-hosted.ts';
import { type FencedBlock, fencedBlocks } from './fenced-blocks.ts';

/* Runs or validates every code block of docs/clients.md. */

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8');
const blocks = fencedBlocks(page);
const named = (languages: string[]) =>
  blocks
    .filter(({ language }) => languages.includes(language))
    .map((block) => [`line ${block.line}, ${block.heading}`, block] as const);

/** Appended to the titles of tests that need curl. */
const whyNoCurl = spawnSync('curl', ['--version']).error ? ' (SKIPPED: install the package curl)' : '';

describe('docs/clients.md', () => {
  it('has only blocks that are run or validated', () => {
    const kinds = blocks.map(({ language }, index) => [language, blocks[index + 1]?.language]);
    for (const [language, next] of kinds) {
      if (language === 'js') expect(next).toBe('text');
      else if (language === 'sh') expect(next).toBe('json');
      else expect(['text', 'json', 'graphql']).toContain(language);
    }
    expect(page.match(/^```\w/gm)).toHaveLength(blocks.length);
    expect(named(['js', 'sh']).length).toBeGreaterThanOrEqual(10);
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
      expect(String(field?.type)).toBe('ID!');
    }
  });

  it('lists every member of every union and interface for Apollo Client', () => {
    for (const type of Object.values(schema.getTypeMap()).filter(isAbstractType)) {
      if (type.name.startsWith('_')) continue;
      const members = schema.getPossibleTypes(type).map(({ name }) => name);
      expect(page).toContain(
        `${type.name}: [${members
          .toSorted()
          .map((name) => `'${name}'`)
          .join(', ')}]`,
      );
    }
  });
});

/** Starts a new gateway for each block. */
async function expectPrinted(block: FencedBlock): Promise<void> {
  const [bankDataUrl, essaysUrl] = await Promise.all([tBankDataService(), tEssayService()]);
  const origin = await tGateway({ bankDataUrl, essaysUrl }).listen();
  const printed = await run({ ...block, text: block.text.replaceAll('http://127.0.0.1:4000', origin) });
  expect(printed.trimEnd()).toBe(blocks[blocks.indexOf(block) + 1]?.text.trimEnd());
}

/** The output of a block, run as a module or as a shell command. Rejects if it fails or prints to stderr. */
function run({ language, text }: FencedBlock): Promise<string> {
  const [program, ...args] = language === 'js' ? [process.execPath, '--input-type=module', '-'] : ['sh', '-eu'];
  return new Promise((resolve, reject) => {
    const child = execFile(program ?? '', args, { cwd: root, timeout: 30_000 }, (error, stdout, stderr) => {
      if (error || stderr !== '') reject(error ?? new Error(stderr));
      else resolve(stdout);
    });
    child.stdin?.end(text);
  });
}
