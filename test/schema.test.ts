import { readFileSync } from 'node:fs';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { type GraphQLNamedType, isEnumType, isInputObjectType, isInterfaceType, isObjectType, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { schema } from '../src/graphql/schema/schema.ts';
import { printSubgraph, schemaFile } from './print-schema.ts';

describe('schema.graphql', () => {
  it('is what the code says; `npm run schema` prints it anew', () => {
    expect(readFileSync(schemaFile, 'utf8')).toBe(printSubgraph());
  });

  it('is in the order of names', () => {
    const query = parse(readFileSync(schemaFile, 'utf8')).definitions.find(
      (definition) => definition.kind === 'ObjectTypeDefinition' && definition.name.value === 'Query',
    );
    const names = query?.kind === 'ObjectTypeDefinition' ? query.fields?.map(({ name }) => name.value) : [];
    expect(names).toEqual(names?.toSorted());
    expect(names).toContain('ibanValidation');
  });

  it('is a subgraph that Apollo’s library can build', () => {
    expect(() => buildSubgraphSchema({ typeDefs: parse(readFileSync(schemaFile, 'utf8')) })).not.toThrow();
  });
});

describe('the schema', () => {
  const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
  const ours = types.filter(
    ({ name }) => !['Boolean', 'ID', 'Int', 'String', 'Float'].includes(name) && !/^_|__/.test(name),
  );

  it.each(ours.map((type) => [type.name, type] as const))('describes %s and everything in it', (_, type) => {
    expect(undescribed(type)).toEqual([]);
  });

  it('never shows a wire name', () => {
    for (const type of ours) {
      for (const name of membersOf(type).map((member) => member.name)) expect(name).not.toMatch(/[a-z]_|BBAN/);
    }
  });

  it('makes nullable what costs an upstream call, so that a failure costs one field', () => {
    expect(String(schema.getQueryType()?.getFields().ibanValidation?.type)).toBe('IbanValidation');
    expect(String(schema.getQueryType()?.getFields().ibanValidations?.type)).toBe('[IbanValidation]!');
  });
});

interface Member {
  name: string;
  description?: string | null | undefined;
  args?: readonly Member[];
}

function membersOf(type: GraphQLNamedType): readonly Member[] {
  if (isEnumType(type)) return type.getValues();
  if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) return [];
  // Federation's own fields begin with an underscore.
  return Object.values(type.getFields()).filter(({ name }) => !name.startsWith('_'));
}

function undescribed(type: GraphQLNamedType): string[] {
  const members = membersOf(type).flatMap((member) => [member, ...(member.args ?? [])]);
  return [type as Member, ...members].filter(({ description }) => !description).map(({ name }) => name);
}
