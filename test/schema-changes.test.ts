import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Declaration, findSchemaChanges } from '../scripts/schema-changes.ts';

const released = readFileSync(new URL('../schema.graphql', import.meta.url), 'utf8');
const nothing = { breaking: [], declared: [], dangerous: [], harmless: [], unmatched: [] };

/** What the check finds after an edit of the present schema. */
async function changesBy(from: string | RegExp, to: string, declarations: Declaration[] = []) {
  const edited = released.replace(from, to);
  expect(edited).not.toBe(released);
  return findSchemaChanges(released, edited, declarations);
}

const zip = / {2}"""[^"]*"""\n {2}zip: String\n/;

describe('the schema check', () => {
  it('finds nothing in an unchanged schema', async () => {
    expect(await findSchemaChanges(released, released, [])).toEqual(nothing);
  });

  it('reports a removed field as breaking', async () => {
    const breaking = ["BankData.zip: Field 'zip' was removed from object type 'BankData'"];
    expect(await changesBy(zip, '')).toEqual({ ...nothing, breaking });
  });

  it('accepts a declared breaking change and repeats its reason', async () => {
    const declarations = [{ path: 'BankData.zip', reason: 'no client reads it' }];
    const declared = ["BankData.zip: Field 'zip' was removed from object type 'BankData': no client reads it"];
    expect(await changesBy(zip, '', declarations)).toEqual({ ...nothing, declared });
  });

  it('reports a removed field of a type that also gets an interface', async () => {
    const from = /type IbanCountry (@key.*?) {2}isSepa: Boolean!/s;
    const { breaking } = await changesBy(from, 'type IbanCountry implements UserError $1  message: String!');
    expect(breaking).toEqual(["IbanCountry.isSepa: Field 'isSepa' was removed from object type 'IbanCountry'"]);
  });

  it('reports declarations without a breaking change: the path is unknown, or the change is harmless', async () => {
    const declarations = ['BankData.zip', 'IbanData.extra', 'BankData.nothing'].map((path) => ({
      path,
      reason: 'why not',
    }));
    const { unmatched } = await changesBy('type IbanData {', 'type IbanData {\n  extra: String', declarations);
    expect(unmatched).toEqual(['BankData.zip', 'IbanData.extra', 'BankData.nothing']);
  });

  it.each([
    [
      'a field that became nullable',
      '  isHeadOffice: Boolean!',
      '  isHeadOffice: Boolean',
      'BicValidation.isHeadOffice',
    ],
    ['an argument that became required', '    country: String\n', '    country: String!\n', 'Query.banks.country'],
    ['a removed enum value', / {2}"""[^"]*"""\n {2}ESSAYS\n/, '', 'Service.ESSAYS'],
    ['a removed union member', ' | InvalidIbanFields', '', 'GenerateIbanResult'],
    [
      'a changed key',
      'IbanCountry @key(fields: "code")',
      'IbanCountry @key(fields: "name")',
      'IbanCountry.@key.fields',
    ],
    ['a type that is no longer shareable', ' @shareable', '', 'PageInfo.@shareable'],
  ])('reports %s as breaking', async (_, from, to, path) => {
    const { breaking } = await changesBy(from, to);
    expect(breaking).toHaveLength(1);
    expect(breaking[0]).toContain(`${path}: `);
  });

  it('reports a type that is no longer an entity as breaking, twice', async () => {
    const { breaking } = await changesBy('IbanCountry @key(fields: "code")', 'IbanCountry');
    expect(breaking.map((line) => line.split(': ')[0])).toEqual(['IbanCountry.@key', '_Entity']);
  });

  it.each([
    ['an enum value', 'enum Service {', 'enum Service {\n  NEW', 'Service.NEW'],
    ['a union member', 'union GenerateIbanResult =', 'union GenerateIbanResult = BankData |', 'GenerateIbanResult'],
  ])('reports %s that was added as dangerous', async (_, from, to, path) => {
    const { dangerous, ...rest } = await changesBy(from, to);
    expect(dangerous).toEqual([expect.stringContaining(`${path}: `)]);
    expect(rest).toEqual({ breaking: [], declared: [], harmless: [], unmatched: [] });
  });

  it('reports additions and deprecations as harmless', async () => {
    const added = await changesBy('type IbanData {', 'type IbanData {\n  extra: String');
    const harmless = ["IbanData.extra: Field 'extra' was added to object type 'IbanData'"];
    expect(added).toEqual({ ...nothing, harmless });
    const deprecated = await changesBy('  zip: String', '  zip: String @deprecated(reason: "Use bankData.")');
    expect(deprecated.harmless.join()).toContain('BankData.zip');
    expect({ ...deprecated, harmless: [] }).toEqual(nothing);
  });

  it('ignores a change of the Federation version', async () => {
    const { breaking } = await changesBy('federation/v2.9', 'federation/v2.10');
    expect(breaking).toEqual([]);
  });
});
