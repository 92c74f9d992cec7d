import {
  type ASTNode,
  type GraphQLSchema,
  isIntrospectionType,
  isSpecifiedScalarType,
  Kind,
  print,
  visit,
} from 'graphql';

/** The SDL for routers, printed on first use. Sorted by name, because the order of the code may change. */
export function printSubgraphSdl(schema: GraphQLSchema): string {
  const known = printed.get(schema);
  if (known !== undefined) return known;
  // The directives plugin of Pothos adds the nodes, with the directives that GraphQL.js does not print.
  const types = Object.values(schema.getTypeMap())
    .filter((type) => !isSpecifiedScalarType(type) && !isIntrospectionType(type))
    .flatMap(({ astNode }) => astNode ?? []);
  const document = { kind: Kind.DOCUMENT, definitions: [...schema.extensionASTNodes, ...publicByName(types)] } as const;
  const sdl = print(visit(document, { enter: normalize }));
  printed.set(schema, sdl);
  return sdl;
}

const printed = new WeakMap<GraphQLSchema, string>();

function normalize(node: ASTNode): ASTNode | undefined {
  const described =
    'description' in node && node.description ? { ...node, description: { ...node.description, block: true } } : node;
  switch (described.kind) {
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.INTERFACE_TYPE_DEFINITION:
      return { ...described, fields: publicByName(described.fields) };
    case Kind.INPUT_OBJECT_TYPE_DEFINITION:
      return { ...described, fields: publicByName(described.fields) };
    case Kind.ENUM_TYPE_DEFINITION:
      return { ...described, values: publicByName(described.values) };
    case Kind.UNION_TYPE_DEFINITION:
      return { ...described, types: publicByName(described.types) };
    case Kind.FIELD_DEFINITION:
      return { ...described, arguments: publicByName(described.arguments) };
    default:
      return described;
  }
}

/** Without `_entities`, `_service` and their types, which are only for routers. */
function publicByName<Named extends { name: { value: string } }>(nodes: readonly Named[] = []): readonly Named[] {
  return nodes
    .filter(({ name }) => !name.value.startsWith('_'))
    .toSorted((one, other) => (one.name.value < other.name.value ? -1 : 1));
}
