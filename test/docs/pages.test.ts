import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import breakingChanges from '../../docs/releases/breaking-changes.json' with { type: 'json' };
import packageJson from '../../package.json' with { type: 'json' };
import { runCommand } from '../support/command.ts';
import { fencedBlocks, runBlock, whyNoCurl } from '../support/docs/blocks.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { tGateway } from '../support/gateway.ts';
import { tBankDataService } from '../support/self-hosted.ts';

/* The examples, commands and links of all pages. docs/operations.md, docs/clients.md and the supergraph's query have tests of their own. */

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const pages = ['.', 'docs', 'docs/adr', 'docs/releases'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
);

const examples = ['README.md', 'docs/operations.md', 'docs/check-files.md'].flatMap((page) => {
  const blocks = fencedBlocks(read(page));
  return blocks.map((block, index) => ({
    title: `${page}, line ${block.line}`,
    block,
    output: /^(json|csv)$/.test(blocks[index + 1]?.language ?? '') ? blocks[index + 1]?.text : undefined,
  }));
});

describe('an example', () => {
  // test/docs/operations.test.ts runs the one with a key.
  const curls = examples.filter(({ block: { text } }) => text.startsWith('curl ') && !text.includes('$API_KEY'));

  it.skipIf(whyNoCurl).each(curls)(`shows the real output: $title${whyNoCurl}`, async ({ block, output }) => {
    const printed = await runBlock(block);
    if (output) expect(printed.trimEnd()).toBe(output.trimEnd());
    else expect(JSON.parse(printed)).toMatchObject({ data: { generateEssay: { __typename: 'Essay' } } });
  });

  it.each(examples.filter(({ block }) => block.language === 'graphql'))(
    'shows the real answer: $title',
    async ({ block, output = '' }) => {
      const gateway = tGateway({ bankDataUrl: await tBankDataService() });
      expect(await gateway.ask(block.text)).toEqual(JSON.parse(output));
    },
  );

  const [command, summary] = fencedBlocks(read('docs/check-files.md'));
  it('shows the real summary of a file', async () => {
    const [, ...args] = command?.text.trim().replace('checked.csv', join(tFolder(), 'checked.csv')).split(' ') ?? [];
    expect(await runCommand(args)).toEqual({ code: 1, stdout: '', stderr: summary?.text });
  });

  it('is found in every format', () => {
    expect(curls.length).toBeGreaterThanOrEqual(3);
    expect(examples.filter(({ block }) => block.language === 'graphql')).not.toEqual([]);
  });
});

describe('the pages', () => {
  it('link to files and headings that exist', () => {
    const links = findInPages(/\]\(([^)\s]+)\)/g);
    expect(links.filter(({ found, page }) => !/^https?:/.test(found) && !isTarget(page, found))).toEqual([]);
  });

  it('name npm scripts that exist', () => {
    const scripts = findInPages(/npm run ([\w:-]+)/g).filter(({ page }) => !history.test(page));
    expect(scripts.filter(({ found }) => !(found in packageJson.scripts))).toEqual([]);
  });

  it('say in one line for each breaking change of the schema what to write instead', () => {
    const unreleased = /^## \[Unreleased\]\n([\s\S]*?)^## \[/m.exec(read('CHANGELOG.md'))?.[1] ?? '';
    const [, page = ''] = /\]\((docs\/releases\/[\d.]+\.md)\)/.exec(unreleased) ?? [];
    const lines = page === '' ? [] : read(page).match(/^\| .*`.*\|$/gm);
    const named = lines?.map((line) => line.split(' | ')[0]).join() ?? '';
    expect(breakingChanges.filter(({ path }) => !named.includes(`\`${path}\``))).toEqual([]);
  });

  it('name commands that exist', () => {
    const commands = [...read('src/cli/ledgerquill.ts').matchAll(/addCommand\(\s*'([\w-]+)'/g)].map(([, name]) => name);
    const named = findInPages(/`(?:npx )?ledgerquill ([a-z][\w-]*)|^(?:npx )?ledgerquill ([a-z][\w-]*)/gm);
    const isMissing = ({ found, page }: { found: string; page: string }) =>
      ![...commands, 'help'].includes(found) && !history.test(page);
    expect(named.filter(isMissing)).toEqual([]);
  });

  it('are short: 120 lines in the README, 3,000 words in the guide, 24,000 in docs without tables that a script prints', () => {
    expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(120);
    expect(countWords(read('docs/operations.md'))).toBeLessThanOrEqual(3_000);
    const inDocs = pages.filter((page) => page.startsWith('docs/')).map((page) => countWords(read(page)));
    expect(inDocs.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(24_000);
  });

  it('name TypeScript files that exist', () => {
    expect(
      findInPages(/`(?:npx tsx )?((?:bench|scripts|src|test)\/[\w/.-]+\.ts\b)/g).filter(
        ({ found, page }) => !history.test(page) && !existsSync(join(root, found)),
      ),
    ).toEqual([]);
  });
});

/** Pages about earlier versions. */
const history = /^(CHANGELOG|docs\/releases)/;

/** The first groups that match, with their pages. Fails if there are none. */
function findInPages(pattern: RegExp): { page: string; found: string }[] {
  const matches = pages.flatMap((page) =>
    [...read(page).matchAll(pattern)].map(([, ...groups]) => ({ page, found: groups.find((group) => group) ?? '' })),
  );
  expect(matches).not.toEqual([]);
  return matches;
}

/** As `wc` counts them, but for the tables of `npm run tables`. */
function countWords(markdown: string): number {
  return markdown.replaceAll(/<!-- printed: [\s\S]*?<!-- end -->/g, '').match(/\S+/g)?.length ?? 0;
}

/** Whether a link leads to a file, and to one of its headings if it has a fragment. */
function isTarget(page: string, target: string): boolean {
  const [path = '', fragment] = target.split('#');
  const file = path === '' ? page : join(dirname(page), path);
  if (!existsSync(join(root, file))) return false;
  return fragment === undefined || anchors(read(file)).includes(fragment);
}

/** The anchors of the headings, as GitHub creates them. */
function anchors(markdown: string): string[] {
  const prose = markdown.replaceAll(/^```[\s\S]*?^```$/gm, '');
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
