import { readFileSync } from 'node:fs';
import { buildSubgraphSchema } from '@apollo/subgraph';
import {
  buildSchema,
  GraphQLBoolean,
  type GraphQLNamedType,
  getNamedType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isNullableType,
  isObjectType,
  isScalarType,
  isUnionType,
  Kind,
  parse,
  print,
  visit,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import {
  clientSchemaFile,
  possibleTypesFile,
  printClientSchema,
  printPossibleTypes,
  printSubgraph,
  schemaFile,
} from '../scripts/print-schema.ts';
import { schema } from '../src/gateway/graphql/schema/schema.ts';

describe('schema.graphql', () => {
  it('matches the code; `npm run schema` prints it', () => {
    expect(readFileSync(schemaFile, 'utf8')).toBe(printSubgraph());
  });

  it('lists fields in alphabetical order', () => {
    const query = parse(readFileSync(schemaFile, 'utf8')).definitions.find(
      (definition) => definition.kind === 'ObjectTypeDefinition' && definition.name.value === 'Query',
    );
    const names = query?.kind === 'ObjectTypeDefinition' ? query.fields?.map(({ name }) => name.value) : [];
    expect(names).toEqual(names?.toSorted());
    expect(names).toContain('ibanValidation');
  });

  it('is a subgraph that Apollo’s library builds', () => {
    expect(() => buildSubgraphSchema({ typeDefs: parse(readFileSync(schemaFile, 'utf8')) })).not.toThrow();
  });
});

describe('schema.client.graphql', () => {
  const sdl = readFileSync(clientSchemaFile, 'utf8');

  it('matches the code; `npm run schema` prints it', () => {
    expect(sdl).toBe(printClientSchema());
  });

  it('is a valid schema, with no directives but those of GraphQL and @semanticNonNull', () => {
    const directives = new Set<string>();
    visit(parse(sdl), { Directive: ({ name }) => void directives.add(name.value) });
    const known = ['deprecated', 'semanticNonNull', 'specifiedBy'];
    expect([...directives].filter((name) => !known.includes(name))).toEqual([]);
    expect(sdl.match(/^(directive @\w+|extend)/gm)).toEqual(['directive @semanticNonNull']);
    // Validates it, unlike with `assumeValid`.
    expect(() => buildSchema(sdl)).not.toThrow();
  });

  it('has all types, fields, arguments and defaults of the subgraph but those of Federation', () => {
    const withoutFederation = (text: string) => {
      const own = visit(parse(text), {
        enter(node) {
          if ([Kind.DIRECTIVE, Kind.DIRECTIVE_DEFINITION, Kind.SCHEMA_EXTENSION].includes(node.kind)) return null;
          const isFederation = /Definition$/.test(node.kind) && 'name' in node && node.name?.value.startsWith('_');
          return isFederation ? null : undefined;
        },
      });
      return own.definitions.map(print);
    };
    expect(withoutFederation(sdl)).toEqual(withoutFederation(printSubgraph()));
  });

  it('keeps @specifiedBy, which says what the texts of a scalar are', () => {
    const { DateTime } = buildSchema(sdl).getTypeMap();
    expect(isScalarType(DateTime) && DateTime.specifiedByURL).toMatch(/^https:\/\/scalars\.graphql\.org\//);
  });
});

describe('possibleTypes.json', () => {
  it('matches the code; `npm run schema` prints it', () => {
    expect(readFileSync(possibleTypesFile, 'utf8')).toBe(printPossibleTypes());
  });

  it('lists every member of every union and interface', () => {
    const clientSchema = buildSchema(readFileSync(clientSchemaFile, 'utf8'));
    const abstractTypes = Object.values(clientSchema.getTypeMap()).filter(isAbstractType);
    expect(abstractTypes.map(({ name }) => name)).toContain('UserError');
    const expected = abstractTypes.map((type) => [
      type.name,
      clientSchema.getPossibleTypes(type).map(String).toSorted(),
    ]);
    expect(JSON.parse(printPossibleTypes())).toEqual(Object.fromEntries(expected));
  });
});

describe('the schema', () => {
  it('has the names that the product promises', () => {
    const { IbanValidation, IbanData, BankData, EssayMode, Query, Mutation } = schema.getTypeMap();
    const typeOf = (type: GraphQLNamedType | undefined, field: string) =>
      isObjectType(type) && String(type.getFields()[field]?.type);
    expect([IbanData, BankData].map(isObjectType)).toEqual([true, true]);
    expect(isEnumType(EssayMode)).toBe(true);
    expect(typeOf(Query, 'ibanValidation')).toMatch(/^IbanValidation!?$/);
    expect(typeOf(IbanValidation, 'ibanData')).toBe('IbanData');
    expect(typeOf(IbanValidation, 'bankData')).toBe('BankData');
    expect(typeOf(Query, 'bank')).toBe('BankData');
    expect(typeOf(Query, 'banks')).toBe('BankDataConnection');
    expect(typeOf(Mutation, 'generateEssay')).toMatch(/^GenerateEssayResult!?$/);
    expect(typeOf(IbanValidation, 'countryIbanExample')).toBe('IBAN');
    // The record of the service in camel case, each name once.
    const record =
      'country countryCode sepaCountry checksum bban bankCode accountNumber branch nationalChecksum ' +
      'countryIbanFormatAsSwift countryIbanFormatAsRegex';
    const fields = isObjectType(IbanData) ? Object.values(IbanData.getFields()) : [];
    expect(fields.map(({ name }) => name).toSorted()).toEqual(record.split(' ').toSorted());
    expect(fields.filter(({ deprecationReason }) => deprecationReason)).toEqual([]);
  });

  it('names booleans with a verb, but for the names of the service and of the extension of errors', () => {
    const objects = ours.filter(isObjectType);
    const booleans = objects.flatMap((type) =>
      Object.values(type.getFields()).flatMap((field) =>
        getNamedType(field.type) === GraphQLBoolean ? [`${type}.${field.name}`] : [],
      ),
    );
    expect(booleans.filter((name) => !/[.](?:(?:is|has|may)[A-Z]|takesPart|__)/.test(name)).toSorted()).toEqual([
      'BicValidation.valid',
      'EssayServiceFailed.retryable',
      'IbanData.sepaCountry',
      'IbanValidation.valid',
    ]);
  });

  it('marks the fields that are null only with an error for clients', () => {
    const marked: string[] = [];
    visit(parse(readFileSync(clientSchemaFile, 'utf8')), {
      ObjectTypeDefinition: (type) =>
        void type.fields?.forEach(({ name, directives }) => {
          const mark = directives?.find((directive) => directive.name.value === 'semanticNonNull');
          if (mark) marked.push([`${type.name.value}.${name.value}`, ...(mark.arguments ?? []).map(print)].join(' '));
        }),
    });
    expect(marked).toEqual([
      'BicValidation.problems',
      'BicValidation.valid',
      'IbanValidation.problems',
      'IbanValidation.valid',
      'Mutation.cancelEssayOrder',
      'Mutation.deleteEssayOrder',
      'Query.banks',
      'Query.bicValidation',
      'Query.essayOrders',
      'Query.generateIban',
      'Query.ibanValidation',
      'Query.ibanValidations levels: [0, 1]',
    ]);
  });

  const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
  const ours = types.filter(
    ({ name }) => !['Boolean', 'ID', 'Int', 'String', 'Float'].includes(name) && !/^_|__/.test(name),
  );

  it.each(ours.map((type) => [type.name, type] as const))('describes %s and its members', (_, type) => {
    expect(withoutDescription(type)).toEqual([]);
  });

  it('exposes no wire names', () => {
    for (const type of ours) {
      for (const name of membersOf(type).map((member) => member.name)) expect(name).not.toMatch(/[a-z]_|BBAN/);
    }
  });

  const freeFields = [
    'allowances',
    'bankLists',
    'countries',
    'country',
    'essay',
    'essayOrder',
    'essayOrders',
    'limits',
  ];
  const queryFields = Object.values(schema.getQueryType()?.getFields() ?? {}).filter(
    ({ name }) => !name.startsWith('_'),
  );
  const costlyFields = queryFields.filter(({ name }) => !freeFields.includes(name));

  it.each(costlyFields.map((field) => [field.name, field] as const))(
    'makes %s nullable where it can fail, so that a failed upstream call nulls one field only',
    (_, { type }) => {
      const nullable = isNonNullType(type) ? type.ofType : type;
      if (isListType(nullable)) expect(isNullableType(nullable.ofType)).toBe(true);
      else expect(isNullableType(type)).toBe(true);
    },
  );

  it('states in the description which fields cost no upstream call', () => {
    expect(costlyFields).toHaveLength(queryFields.length - freeFields.length);
    for (const { name, description } of queryFields) {
      if (freeFields.includes(name)) expect(description).toMatch(/needs no upstream call/i);
      else expect(description).not.toMatch(/needs no upstream call/i);
    }
  });

  it('gives every outcome of a mutation its own type', () => {
    const { Mutation, GenerateEssayResult, GenerateIbanResult, UserError: error } = schema.getTypeMap();
    expect(isObjectType(Mutation) && String(Mutation.getFields().generateEssay?.type)).toBe('GenerateEssayResult!');
    for (const union of [GenerateEssayResult, GenerateIbanResult]) {
      if (!isUnionType(union) || !isInterfaceType(error)) throw new Error('the schema lacks the types of this test');
      const [successes, failures] = [false, true].map((isFailure) =>
        union.getTypes().filter((type) => type.getInterfaces().includes(error) === isFailure),
      );
      expect(successes).toHaveLength(1);
      expect(failures?.length).toBe(union.getTypes().length - 1);
    }
  });

  it('types the failure code of an essay as UpstreamErrorCode', () => {
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

function withoutDescription(type: GraphQLNamedType): string[] {
  const members = membersOf(type).flatMap((member) => [member, ...(member.args ?? [])]);
  return [type as Member, ...members].filter(({ description }) => !description).map(({ name }) => name);
}
