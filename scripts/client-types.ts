import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
} from 'graphql';
import { replacePart } from './replace-part.ts';

/* What the caches in `clients` know of the schema. */

/** The members of each union and the implementations of each interface. */
export function listPossibleTypes(schema: GraphQLSchema): Record<string, string[]> {
  const abstractTypes = Object.values(schema.getTypeMap()).filter(isAbstractType);
  return Object.fromEntries(
    abstractTypes.map((type) => [type.name, schema.getPossibleTypes(type).map(({ name }) => name)]),
  );
}

/** The file of Apollo Client's cache with the types of this schema. */
export function fillApolloCache(text: string, schema: GraphQLSchema): string {
  const objects = listObjects(schema);
  const query = schema.getQueryType();
  const lookUps = fieldsOf(query).flatMap(({ name, type, args }) => {
    const named = getNamedType(type);
    const key = isObjectType(named) && !isListType(type) ? findKey(named) : null;
    // An id is unknown before the object is loaded; a look-up has the key as its argument.
    return key !== null && key !== 'id' && args.some((arg) => arg.name === key)
      ? [[name, { type: named.name, key }]]
      : [];
  });
  return fill(text, {
    keys: Object.fromEntries(objects.map((type) => [type.name, findKey(type)])),
    lists: Object.fromEntries(
      [...objects, ...(query ? [query] : [])].flatMap((type) => {
        // The order of a connection changes with its pages and over time.
        const names = isConnection(type) ? [] : listFields(type);
        return names.length > 0 ? [[type.name, names]] : [];
      }),
    ),
    lookUps: Object.fromEntries(lookUps),
    possibleTypes: listPossibleTypes(schema),
  });
}

/** The file of Graphcache with the types of this schema. */
export function fillGraphcache(text: string, schema: GraphQLSchema): string {
  const changing = listChangedTypes(schema);
  return fill(text, {
    keys: Object.fromEntries(
      listObjects(schema).map((type) => [type.name, changing.has(type) && 'id' in type.getFields() ? 'id' : null]),
    ),
    possibleTypes: listPossibleTypes(schema),
  });
}

function fill(text: string, types: object): string {
  const part = `// biome-ignore format: JSON\nconst types = ${JSON.stringify(types, null, 2)};\n`;
  return replacePart(text, /(\/\/ From here, [^\n]*\n)[\s\S]*?(?=\/\/ To here[.])/, part);
}

/** All types with fields, but the root types. */
function listObjects(schema: GraphQLSchema): GraphQLObjectType[] {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const types = Object.values(schema.getTypeMap()).filter(isObjectType);
  return types.filter((type) => !roots.includes(type) && !type.name.startsWith('__'));
}

/** The field that identifies an object: of type ID!, or a number that identifies it, such as `iban: IBAN!`, which says more than `id`. */
function findKey(type: GraphQLObjectType): string | null {
  const names = fieldsOf(type).flatMap((field) => (isId(field) ? [field.name] : []));
  return names.find((name) => name !== 'id') ?? names[0] ?? null;
}

const isId = ({ name, type }: GraphQLField<unknown, unknown>) =>
  isNonNullType(type) && isScalarType(type.ofType) && ['ID', name.toUpperCase()].includes(type.ofType.name);

function fieldsOf(type: GraphQLObjectType | null | undefined): GraphQLField<unknown, unknown>[] {
  return Object.values(type?.getFields() ?? {});
}

/** The fields with lists of objects. */
function listFields(type: GraphQLObjectType): string[] {
  return fieldsOf(type).flatMap((field) => {
    const nullable = isNonNullType(field.type) ? field.type.ofType : field.type;
    return isListType(nullable) && isCompositeType(getNamedType(nullable)) ? [field.name] : [];
  });
}

function isConnection({ name }: GraphQLNamedType): boolean {
  return name.endsWith('Connection');
}

/** The objects in results of mutations and subscriptions. */
function listChangedTypes(schema: GraphQLSchema): ReadonlySet<GraphQLObjectType> {
  const found = new Set<GraphQLObjectType>();
  const visitType = (type: GraphQLObjectType) => {
    if (found.has(type)) return;
    found.add(type);
    for (const field of fieldsOf(type)) {
      const named = getNamedType(field.type);
      if (isAbstractType(named)) schema.getPossibleTypes(named).forEach(visitType);
      else if (isObjectType(named)) visitType(named);
    }
  };
  for (const root of [schema.getMutationType(), schema.getSubscriptionType()]) if (root) visitType(root);
  return found;
}
