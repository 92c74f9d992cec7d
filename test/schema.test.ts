import { readFileSync } from 'node:fs';
import {
  buildSchema,
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { schema } from '../src/graphql/schema/schema.ts';
import { printSortedSchema, schemaFile } from './print-schema.ts';

describe('schema.graphql', () => {
  it('is what the code says; `npm run schema` prints it anew', () => {
    expect(readFileSync(schemaFile, 'utf8')).toBe(printSortedSchema());
  });

  it('is a schema that others can build', () => {
    expect(() => buildSchema(readFileSync(schemaFile, 'utf8'))).not.toThrow();
  });
});

describe('the schema', () => {
  const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
  const ours = types.filter(({ name }) => !['Boolean', 'ID', 'Int', 'String', 'Float'].includes(name));

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
  if (isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)) return Object.values(type.getFields());
  return [];
}

function undescribed(type: GraphQLNamedType): string[] {
  const members = membersOf(type).flatMap((member) => [member, ...(member.args ?? [])]);
  return [type as Member, ...members].filter(({ description }) => !description).map(({ name }) => name);
}
