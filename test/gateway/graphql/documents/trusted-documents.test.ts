import { createHash } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addTypenameToDocument } from '@apollo/client/utilities';
import { type DocumentNode, parse, print } from 'graphql';
import { formatDocument } from 'urql';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createTrustedDocuments } from '../../../../src/gateway/graphql/documents/trusted-documents.ts';
import { tFolder } from '../../../support/gateway/stores/folder.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const bankQuery =
  'query Bank($bic: String!) { bank(bic: $bic) { name ...Place } } fragment Place on BankData { city { id } }';
const essayQuery = 'query Essay {\n  essay(id: "1") {\n    ... on Essay {\n      text\n    }\n  }\n}';
const apollo = (...bodies: string[]) => ({
  format: 'apollo-persisted-query-manifest',
  version: 1,
  operations: bodies.map((body, index) => ({ id: `apollo-${index}`, name: `Q${index}`, type: 'query', body })),
});
const byHash = (...texts: string[]) => Object.fromEntries(texts.map((text) => [sha256(text), text]));

function tFiles(files: Record<string, unknown>) {
  const folder = tFolder();
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return folder;
}

function tTrusted(...paths: string[]) {
  const events: unknown[] = [];
  const documents = createTrustedDocuments({
    paths,
    mode: 'require',
    events: {
      fileReloaded: (_, count) => void events.push(count),
      fileInvalid: (_, reason) => void events.push(reason),
    },
  });
  onTestFinished(documents.close);
  return { ...documents, events };
}

describe('trusted documents', () => {
  it('are found by id, by hash and by text, in manifests of all formats', () => {
    const folder = tFiles({
      'apollo.json': apollo(bankQuery),
      'relay.json': { '4f2c8a1e5d1c2b3a4f2c8a1e5d1c2b3a': essayQuery },
      'codegen.json': byHash('{ countries { name } }'),
      'empty.json': {},
      'notes.txt': 'no manifest',
    });
    const single = join(tFiles({ 'old-client.json': byHash('{ old }') }), 'old-client.json');
    const { textOf, has } = tTrusted(folder, single);
    expect(textOf('apollo-0')).toBe(bankQuery);
    expect(textOf('4f2c8a1e5d1c2b3a4f2c8a1e5d1c2b3a')).toBe(essayQuery);
    for (const text of [bankQuery, essayQuery, '{ countries { name } }', '{ old }']) {
      expect(textOf(sha256(text))).toBe(text);
      expect(has(text)).toBe(true);
    }
    expect(textOf('apollo-1')).toBeNull();
    expect(textOf('__proto__')).toBeNull();
    expect(has('{ countries { code } }')).toBe(false);
  });

  it('are found with and without the __typename that clients add, and in any layout', () => {
    const withTypename = print(addTypenameToDocument(parse(bankQuery)));
    const { has } = tTrusted(tFiles({ 'with.json': byHash(withTypename), 'without.json': byHash(essayQuery) }));
    for (const text of [bankQuery, essayQuery]) {
      const document = parse(text);
      const added = [print(addTypenameToDocument(document)), print(formatDocument(document) as DocumentNode)];
      const variants = [text, ...added, `# comment\n${text.replaceAll(/\s+/g, '  ')}`];
      for (const variant of [...variants, ...variants]) expect(has(variant), variant).toBe(true);
    }
  });

  it.each([
    ['another field', bankQuery.replace('name', 'name bic')],
    ['another argument', essayQuery.replace('"1"', '"2"')],
    ['another operation', `${bankQuery} query Other { bank(bic: "X") { name } }`],
    ['an alias', bankQuery.replace('name', 'other: name')],
    ['an alias of __typename', bankQuery.replace('name', 'name other: __typename')],
    ['a directive', bankQuery.replace('name', 'name @include(if: true)')],
    ['__typename with a directive', bankQuery.replace('name', 'name __typename @include(if: false)')],
    ['__typename in place of its fields', essayQuery.replace('text', '__typename')],
  ])('are not those with %s', (_, text) => {
    expect(tTrusted(tFiles({ 'all.json': byHash(bankQuery, essayQuery) })).has(text)).toBe(false);
  });

  it.each([
    [{ 'a.json': '{' }, 'a.json is not valid JSON'],
    [{ 'a.json': {} }, 'has no documents, so that all requests would be refused'],
    [{ 'a.json': { hash: 7 } }, 'a.json must be a manifest of Apollo, or texts by hash'],
    [{ 'a.json': [] }, 'a.json must be a manifest of Apollo, or texts by hash'],
    [{ 'a.json': { ...apollo(bankQuery), version: 2 } }, 'a.json must be a manifest of Apollo, or texts by hash'],
    [{ 'a.json': { h1: '{' } }, 'the document with the id h1 is not valid GraphQL'],
    [{ 'a.json': { h1: bankQuery }, 'b.json': { h1: essayQuery } }, 'two documents have the id h1'],
    [{ 'a.json': { h1: '#'.repeat(10_000_001) } }, 'the documents must have at most 10000000 characters'],
  ])('prevent the start if they are invalid: %#', (files, problem) => {
    expect(() => tTrusted(tFiles(files))).toThrow(`TRUSTED_DOCUMENTS: `);
    expect(() => tTrusted(tFiles(files))).toThrow(problem);
  });

  it('prevent the start if they are missing', () => {
    expect(() => tTrusted('/missing/manifest.json')).toThrow(
      'TRUSTED_DOCUMENTS: /missing/manifest.json cannot be read (ENOENT)',
    );
  });

  it('are read again when files are added, replaced or removed, and remain in use while they are invalid', async () => {
    const folder = tFiles({ 'a.json': byHash(bankQuery) });
    const { has, textOf, events } = tTrusted(folder);
    expect([has(bankQuery), has(essayQuery)]).toEqual([true, false]);
    writeFileSync(join(folder, 'b.json'), JSON.stringify(byHash(essayQuery)));
    await expect.poll(() => has(essayQuery)).toBe(true);

    writeFileSync(join(folder, 'c.new'), '{');
    renameSync(join(folder, 'c.new'), join(folder, 'c.json'));
    await expect.poll(() => events).toContain(`${join(folder, 'c.json')} is not valid JSON`);
    expect([has(bankQuery), has(essayQuery)]).toEqual([true, true]);

    for (const name of ['a.json', 'c.json']) rmSync(join(folder, name));
    await expect.poll(() => has(bankQuery)).toBe(false);
    expect([textOf(sha256(bankQuery)), textOf(sha256(essayQuery))]).toEqual([null, essayQuery]);
    expect(events.at(-1)).toBe(1);
  });

  it('are read again without blocking requests', async () => {
    const fields = Array.from({ length: 200 }, (_, index) => `field${index}`).join(' ');
    const many = Array.from({ length: 1_000 }, (_, index) => `query Q${index} { bank { ${fields} } }`);
    const folder = tFiles({ 'a.json': byHash(bankQuery) });
    const { events } = tTrusted(folder);
    let turns = 0;
    const count = () => {
      turns += 1;
      if (events.length === 0) setImmediate(count);
    };
    writeFileSync(join(folder, 'b.json'), JSON.stringify(byHash(...many)));
    count();
    await expect.poll(() => events).toContain(1_001);
    expect(turns).toBeGreaterThan(10);
  });
});
