import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { as, contentOf, sha256, tCallers, ways } from '../../support/gateway/callers.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { replyHeld, replyWithIban, tUpstream, type Upstream } from '../../support/scripted-upstream.ts';

const trusted = 'query Country($code: String!) { country(code: $code) { name } }';
const withTypename = 'query Country($code: String!) {\n  country(code: $code) {\n    name\n    __typename\n  }\n}';
const other = '{ country(code: "FR") { name } }';
const variables = { code: 'DE' };
const persisted = (sha256Hash: string) => ({ persistedQuery: { version: 1, sha256Hash } });
const germany = { data: { country: { name: 'Germany' } }, errors: undefined };
const france = { data: { country: { name: 'France' } }, errors: undefined };
const failed = (code: string) => ({ data: undefined, errors: [[code, undefined]] });
const refused = failed('QUERY_NOT_IN_SAFELIST');
const notFound = failed('PERSISTED_QUERY_NOT_FOUND');

async function tTrusting(mode: string, upstream?: Upstream) {
  const file = join(tFolder(), 'documents.json');
  /** Replaces the documents, by their id. */
  const write = (documents: Record<string, string>) => {
    writeFileSync(`${file}.new`, JSON.stringify(documents));
    renameSync(`${file}.new`, file);
  };
  write({ 'country-1': trusted });
  const env = { TRUSTED_DOCUMENTS: file, TRUSTED_DOCUMENTS_MODE: mode };
  const gateway = await tCallers({ callers: { shop: 'bank-data+introspection' }, env, ...(upstream && { upstream }) });
  const ask = async (...[way, question]: Parameters<typeof gateway.send>) =>
    contentOf(await gateway.send(way, question, as('shop')));
  return { ...gateway, write, ask };
}

describe.each(ways)('a document that is requested %s', (way) => {
  it.each(['log', 'prefer', 'require'])('is trusted by text, hash and id in the mode %s', async (mode) => {
    const { ask, log } = await tTrusting(mode);
    for (let count = 0; count < 2; count += 1) {
      expect(await ask(way, { query: trusted, variables })).toEqual(germany);
      const answer = { data: { country: { name: 'Germany', __typename: 'IbanCountry' } }, errors: undefined };
      expect(await ask(way, { query: withTypename, variables })).toEqual(answer);
      for (const id of [sha256(trusted), 'country-1']) {
        expect(await ask(way, { variables, extensions: persisted(id) })).toEqual(germany);
        expect(await ask(way, { variables, documentId: id })).toEqual(germany);
      }
      expect(await ask(way, { query: trusted, variables, extensions: persisted(sha256(trusted)) })).toEqual(germany);
      expect(await ask(way, { variables, extensions: persisted(sha256(other)) })).toEqual(notFound);
    }
    expect(log()).not.toContain('trusted');
  });

  it('is refused in the mode require if it is not trusted, and cannot be registered', async () => {
    const { send, ask } = await tTrusting('require');
    const extensions = persisted(sha256(other));
    for (let count = 0; count < 2; count += 1) {
      expect(await ask(way, { query: other })).toEqual(refused);
      expect(await ask(way, { query: other, extensions })).toEqual(refused);
      expect(await ask(way, { extensions })).toEqual(notFound);
      expect(await ask(way, { documentId: sha256(other) })).toEqual(notFound);
      expect(await ask(way, { query: other, documentId: 'country-1' })).toEqual(refused);
      expect(await ask(way, { query: '{ __schema { queryType { name } } }' })).toEqual(refused);
      // Refused before it is parsed and validated.
      for (const invalid of ['{ other', '{ other }', '\u0000', '{'.repeat(2_000)]) {
        expect(await ask(way, { query: invalid })).toEqual(refused);
      }
      expect(await ask(way, { query: trusted.replace('name', 'name code'), variables })).toEqual(refused);
    }
    const accept = 'application/graphql-response+json';
    expect((await send(way, { query: other }, { ...as('shop'), accept })).status).toBe(400);
    expect(await ask(way, { query: trusted, extensions })).toEqual(failed('PERSISTED_QUERY_MISMATCH'));
  });

  it('is executed in the mode prefer if it is not trusted, and can be registered', async () => {
    const { ask, log } = await tTrusting('prefer');
    const extensions = persisted(sha256(other));
    expect(await ask(way, { query: other })).toEqual(france);
    expect(await ask(way, { query: other, extensions })).toEqual(france);
    expect(await ask(way, { extensions })).toEqual(france);
    expect(log()).not.toContain('trusted');
  });

  it('is executed and logged without its text in the mode log if it is not trusted', async () => {
    const { ask, log } = await tTrusting('log');
    expect(await ask(way, { query: other })).toEqual(france);
    expect(log()).toContain('trusted');
    expect(log()).not.toContain('country');
  });

  it('is no longer executed when it is removed from the file, and a new one is', async () => {
    const { ask, write } = await tTrusting('require');
    const long = { query: trusted, variables };
    const short = { variables, extensions: persisted(sha256(trusted)) };
    for (let count = 0; count < 3; count += 1) {
      for (const question of [long, short]) expect(await ask(way, question)).toEqual(germany);
    }
    write({ 'country-2': other });
    await vi.waitFor(async () => expect(await ask(way, { query: other })).toEqual(france), { timeout: 100_000 });
    expect(await ask(way, long)).toEqual(refused);
    expect(await ask(way, short)).toEqual(notFound);
  });
});

it('is refused once it is removed, although requests for it were in progress then', async () => {
  const { reply, release } = replyHeld(replyWithIban);
  const upstream = await tUpstream(reply);
  const { ask, write } = await tTrusting('require', upstream);
  const query = 'query Validate($iban: String!) { ibanValidation(iban: $iban) { valid } }';
  write({ 'validate-1': query });
  const question = { query, variables: { iban: 'DE89370400440532013000' } };
  await vi.waitFor(async () => expect(await ask('directly', { query: trusted, variables })).toEqual(refused), {
    timeout: 100_000,
  });
  const called = upstream.nextCall();
  // The others wait for the call of the first one, and need none of their own.
  const asked = Array.from({ length: 5 }, () => ask('directly', question));
  await called;
  write({ 'country-2': other });
  await vi.waitFor(async () => expect(await ask('directly', { query: other })).toEqual(france), { timeout: 100_000 });
  release();
  const valid = { data: { ibanValidation: { valid: true } }, errors: undefined };
  expect(await Promise.all(asked)).toEqual(asked.map(() => valid));
  expect(await ask('directly', question)).toEqual(refused);
});
