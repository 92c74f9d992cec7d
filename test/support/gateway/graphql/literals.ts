import {
  type ConstValueNode,
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  parse,
  print,
  typeFromAST,
  type ValueNode,
  visit,
} from 'graphql';
import type { RandomRequest } from './random-documents.ts';

/** The same request with the values of its variables in the document. Null if the document cannot be parsed. */
export function withLiterals(
  schema: GraphQLSchema,
  { query, variables, ...rest }: RandomRequest,
): RandomRequest | null {
  const document = parseOrNull(query);
  return document && { ...rest, query: print(inlineVariables(schema, document, variables)), variables: {} };
}

export function parseOrNull(query: string): DocumentNode | null {
  try {
    return parse(query);
  } catch {
    return null;
  }
}

function inlineVariables(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: RandomRequest['variables'],
): DocumentNode {
  const values = new Map<string, ConstValueNode>();
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    for (const { variable, type, defaultValue } of definition.variableDefinitions ?? []) {
      const name = variable.name.value;
      const value = Object.hasOwn(variables, name)
        ? literalOf(variables[name], typeFromAST(schema, type) as GraphQLInputType | undefined)
        : defaultValue;
      if (value !== undefined) values.set(name, value);
    }
  }
  // An argument or a field whose variable has no value is not there.
  const inline = <Node extends { value: ValueNode }>(node: Node): Node | null | undefined => {
    if (node.value.kind !== Kind.VARIABLE) return undefined;
    const value = values.get(node.value.name.value);
    return value ? { ...node, value } : null;
  };
  return visit(document, {
    OperationDefinition: (node) => ({ ...node, variableDefinitions: [] }),
    Argument: inline,
    ObjectField: inline,
    Variable: ({ name }) => values.get(name.value) ?? { kind: Kind.NULL },
  });
}

function literalOf(value: unknown, type: GraphQLInputType | undefined): ConstValueNode {
  if (isNonNullType(type)) return literalOf(value, type.ofType);
  if (value === null) return { kind: Kind.NULL };
  if (typeof value === 'boolean') return { kind: Kind.BOOLEAN, value };
  if (typeof value === 'number') return { kind: Number.isInteger(value) ? Kind.INT : Kind.FLOAT, value: String(value) };
  if (typeof value === 'string') {
    const isName = isEnumType(type) && /^[a-z_]\w*$/i.test(value);
    return { kind: isName ? Kind.ENUM : Kind.STRING, value };
  }
  if (Array.isArray(value)) {
    const itemType = (isListType(type) ? type.ofType : type) as GraphQLInputType | undefined;
    return { kind: Kind.LIST, values: value.map((item) => literalOf(item, itemType)) };
  }
  const fields = isInputObjectType(type) ? type.getFields() : {};
  return {
    kind: Kind.OBJECT,
    fields: Object.entries(value as object).map(([name, field]) => ({
      kind: Kind.OBJECT_FIELD,
      name: { kind: Kind.NAME, value: name },
      value: literalOf(field, fields[name]?.type),
    })),
  };
}
