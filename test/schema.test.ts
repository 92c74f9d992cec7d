import { readFileSync } from 'node:fs';
import { buildSubgraphSchema } from '@apollo/subgraph';
import {
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isNullableType,
  isObjectType,
  isUnionType,
  parse,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { printSubgraph, schemaFile } from '../scripts/print-schema.ts';
import { schema } from '../src/graphql/schema/schema.ts';

describe('schema.graphql', () => {
  it('is up to date; `npm run schema` prints it', () => {
    expect(readFileSync(schemaFile, 'utf8')).toBe(printSubgraph());
  });

  it('is sorted by name', () => {
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

  it('has no names of the REST services’ fields', () => {
    for (const type of ours) {
      for (const name of membersOf(type).map((member) => member.name)) expect(name).not.toMatch(/[a-z]_|BBAN/);
    }
  });

  const free = ['allowances', 'countries', 'country', 'essay'];
  const queryFields = Object.values(schema.getQueryType()?.getFields() ?? {}).filter(
    ({ name }) => !name.startsWith('_'),
  );
  const costly = queryFields.filter(({ name }) => !free.includes(name));

  it.each(costly.map((field) => [field.name, field] as const))(
    'makes %s, which may cost an upstream call, nullable, so that a failure affects only one field',
    (_, { type }) => {
      const answer = isNonNullType(type) ? type.ofType : type;
      if (isListType(answer)) expect(isNullableType(answer.ofType)).toBe(true);
      else expect(isNullableType(type)).toBe(true);
    },
  );

  it('documents which query fields cost no upstream call', () => {
    expect(costly).toHaveLength(queryFields.length - free.length);
    for (const { name, description } of queryFields) {
      if (free.includes(name)) expect(description).toMatch(/[Cc]osts no (upstream )?call/);
      else expect(description).not.toMatch(/[Cc]osts no (upstream )?call/);
    }
  });

  it('has a type for each outcome of an order, distinguished by __typename', () => {
    const { Mutation, GenerateEssayResult, GenerateIbanResult, Error: error } = schema.getTypeMap();
    expect(isObjectType(Mutation) && String(Mutation.getFields().generateEssay?.type)).toBe('GenerateEssayResult!');
    for (const union of [GenerateEssayResult, GenerateIbanResult]) {
      if (!isUnionType(union) || !isInterfaceType(error)) throw new Error('the schema has no such types');
      const [successes, failures] = [false, true].map((isFailure) =>
        union.getTypes().filter((type) => type.getInterfaces().includes(error) === isFailure),
      );
      expect(successes).toHaveLength(1);
      expect(failures?.length).toBe(union.getTypes().length - 1);
    }
  });

  it('has an enum for the codes of upstream failures', () => {
    const { EssayServiceFailed } = schema.getTypeMap();
    expect(isObjectType(EssayServiceFailed) && String(EssayServiceFailed.getFields().code?.type)).toBe(
      'UpstreamErrorCode!',
    );
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
