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

  const free = ['allowances', 'countries', 'country', 'essay'];
  const questions = Object.values(schema.getQueryType()?.getFields() ?? {}).filter(({ name }) => !name.startsWith('_'));
  const costly = questions.filter(({ name }) => !free.includes(name));

  it.each(costly.map((field) => [field.name, field] as const))(
    'makes %s, which may cost an upstream call, nullable where it can fail, so that a failure costs one field',
    (_, { type }) => {
      const answer = isNonNullType(type) ? type.ofType : type;
      if (isListType(answer)) expect(isNullableType(answer.ofType)).toBe(true);
      else expect(isNullableType(type)).toBe(true);
    },
  );

  it('says that it is free of what is', () => {
    expect(costly).toHaveLength(questions.length - free.length);
    for (const { name, description } of questions) {
      if (free.includes(name)) expect(description).toMatch(/[Cc]osts no (upstream )?call/);
      else expect(description).not.toMatch(/[Cc]osts no (upstream )?call/);
    }
  });

  it('gives every way that an order can end a type of its own, told apart by __typename', () => {
    const { Mutation, GenerateEssayResult, GenerateIbanResult, Error: error } = schema.getTypeMap();
    expect(isObjectType(Mutation) && String(Mutation.getFields().generateEssay?.type)).toBe('GenerateEssayResult!');
    for (const union of [GenerateEssayResult, GenerateIbanResult]) {
      if (!isUnionType(union) || !isInterfaceType(error)) throw new Error('the schema lacks what this test is about');
      const [successes, failures] = [false, true].map((isFailure) =>
        union.getTypes().filter((type) => type.getInterfaces().includes(error) === isFailure),
      );
      expect(successes).toHaveLength(1);
      expect(failures?.length).toBe(union.getTypes().length - 1);
    }
  });

  it('knows every code by which an upstream fails', () => {
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
