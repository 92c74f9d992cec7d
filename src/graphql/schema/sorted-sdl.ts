import { type ASTNode, type GraphQLSchema, Kind, parse, print, visit } from 'graphql';

/**
 * Sorts the SDL in `_service` by name, when it is first requested: Apollo's printer keeps the order of the code, which may
 * change.
 */
export function withSortedSdl(schema: GraphQLSchema): GraphQLSchema {
  const field = schema.getQueryType()?.getFields()._service;
  const { sdl } = (field?.resolve?.(null, {}, null, {} as never) ?? {}) as { sdl?: string };
  if (field === undefined || sdl === undefined) throw new Error('the schema is not a subgraph');
  let sorted: string | undefined;
  field.resolve = () => {
    sorted ??= print(visit(parse(sdl), { enter: sortMembers }));
    return { sdl: sorted };
  };
  return schema;
}

function sortMembers(node: ASTNode): ASTNode | undefined {
  switch (node.kind) {
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.INTERFACE_TYPE_DEFINITION:
      return { ...node, fields: byName(node.fields) };
    case Kind.INPUT_OBJECT_TYPE_DEFINITION:
      return { ...node, fields: byName(node.fields) };
    case Kind.ENUM_TYPE_DEFINITION:
      return { ...node, values: byName(node.values) };
    case Kind.UNION_TYPE_DEFINITION:
      return { ...node, types: byName(node.types) };
    case Kind.FIELD_DEFINITION:
      return { ...node, arguments: byName(node.arguments) };
    default:
      return undefined;
  }
}

function byName<Named extends { name: { value: string } }>(nodes: readonly Named[] = []): readonly Named[] {
  return nodes.toSorted((one, other) => (one.name.value < other.name.value ? -1 : 1));
}
