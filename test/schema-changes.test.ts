import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Declaration, findSchemaChanges } from '../scripts/schema-changes.ts';

const released = readFileSync(new URL('../schema.graphql', import.meta.url), 'utf8');
const nothing = { breaking: [], declared: [], dangerous: [], harmless: [], idle: [] };

/** The changes that an edit of today's schema would be. */
async function changesBy(from: string | RegExp, to: string, declarations: Declaration[] = []) {
  const edited = released.replace(from, to);
  expect(edited).not.toBe(released);
  return findSchemaChanges(released, edited, declarations);
}

const zip = / {2}"""Postal code; null if unknown\."""\n {2}zip: String\n/;

describe('the check of the schema', () => {
  it('finds nothing where nothing changed', async () => {
    expect(await findSchemaChanges(released, released, [])).toEqual(nothing);
  });

  it('names a field that was removed', async () => {
    const breaking = ["Bank.zip: Field 'zip' was removed from object type 'Bank'"];
    expect(await changesBy(zip, '')).toEqual({ ...nothing, breaking });
  });

  it('lets a declared one pass, with its reason', async () => {
    const declarations = [{ path: 'Bank.zip', reason: 'nobody asks for it' }];
    const declared = ["Bank.zip: Field 'zip' was removed from object type 'Bank': nobody asks for it"];
    expect(await changesBy(zip, '', declarations)).toEqual({ ...nothing, declared });
  });

  it('finds a declaration that matches nothing, be its path unknown or its change harmless', async () => {
    const declarations = ['Bank.zip', 'BankData.extra', 'Bank.nothing'].map((path) => ({ path, reason: 'why not' }));
    const { idle } = await changesBy('type BankData {', 'type BankData {\n  extra: String', declarations);
    expect(idle).toEqual(['Bank.zip', 'BankData.extra', 'Bank.nothing']);
  });

  it.each([
    ['a field that may be null now', '  valid: Boolean!', '  valid: Boolean', 'BicValidation.valid'],
    ['an argument that must be given now', '    country: String\n', '    country: String!\n', 'Query.banks.country'],
    ['a value that is gone', / {2}"""Writes essays\."""\n {2}ESSAYS\n/, '', 'Service.ESSAYS'],
    ['an outcome that is gone', ' | InvalidIbanFields', '', 'GenerateIbanResult'],
    ['a key that is another', 'Bank @key(fields: "bic")', 'Bank @key(fields: "name")', 'Bank.@key.fields'],
    ['a type that is shared no more', ' @shareable', '', 'PageInfo.@shareable'],
  ])('takes %s for breaking', async (_, from, to, path) => {
    const { breaking } = await changesBy(from, to);
    expect(breaking).toHaveLength(1);
    expect(breaking[0]).toContain(`${path}: `);
  });

  it('takes an entity that is none any more for breaking, twice', async () => {
    const { breaking } = await changesBy('Bank @key(fields: "bic")', 'Bank');
    expect(breaking.map((line) => line.split(': ')[0])).toEqual(['Bank.@key', '_Entity']);
  });

  it.each([
    ['a value', 'enum Service {', 'enum Service {\n  NEW', 'Service.NEW'],
    ['an outcome', 'union GenerateIbanResult =', 'union GenerateIbanResult = Bank |', 'GenerateIbanResult'],
  ])('lists %s that is new as dangerous', async (_, from, to, path) => {
    const { dangerous, ...rest } = await changesBy(from, to);
    expect(dangerous).toEqual([expect.stringContaining(`${path}: `)]);
    expect(rest).toEqual({ breaking: [], declared: [], harmless: [], idle: [] });
  });

  it('lists what is added or deprecated', async () => {
    const added = await changesBy('type BankData {', 'type BankData {\n  extra: String');
    const harmless = ["BankData.extra: Field 'extra' was added to object type 'BankData'"];
    expect(added).toEqual({ ...nothing, harmless });
    const deprecated = await changesBy('  zip: String', '  zip: String @deprecated(reason: "Ask bankData.")');
    expect(deprecated.harmless.join()).toContain('Bank.zip');
    expect({ ...deprecated, harmless: [] }).toEqual(nothing);
  });

  it('takes another version of Federation for no change of ours', async () => {
    const { breaking } = await changesBy('federation/v2.9', 'federation/v2.10');
    expect(breaking).toEqual([]);
  });
});
