import {
  type FieldNode,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isOutputType,
  isRequiredInputField,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
  TypeInfo,
  typeFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** A JSON Schema, as tools have it. */
type JsonSchema = { type: 'object'; properties: Record<string, object>; required: string[] };

/** The schemas of a tool, from the variables and the selection of its only operation. @param maxItems the longest list of arguments */
export function createToolSchemas(schema: GraphQLSchema, document: string, maxItems: number) {
  const operation = readOperation(document);
  const root = schema.getRootType(operation.operation);
  if (!root) throw new TypeError('The document of a tool must have an operation of the schema.');
  return {
    input: createInputSchema(schema, operation, maxItems),
    output: objectOf(createSelectionSchema(schema, root, operation.selectionSet)),
  };
}

/** The only operation, with the fields of its fragments. Expects a valid document. */
function readOperation(text: string): OperationDefinitionNode {
  const document = parse(text, { noLocation: true });
  const fragments = new Map(
    document.definitions.flatMap((one) => ('typeCondition' in one ? [[one.name.value, one]] : [])),
  );
  const expanded = visit(document, {
    FragmentSpread: ({ name, directives }) => ({
      ...fragments.get(name.value),
      kind: Kind.INLINE_FRAGMENT,
      directives,
    }),
  });
  return expanded.definitions.find(({ kind }) => kind === Kind.OPERATION_DEFINITION) as OperationDefinitionNode;
}

/** Each variable is described as the argument or input field in which it is used. */
function createInputSchema(schema: GraphQLSchema, operation: OperationDefinitionNode, maxItems: number): JsonSchema {
  const descriptions = findDescriptions(schema, operation);
  const properties: Record<string, object> = {};
  const required: string[] = [];
  for (const { variable, type: node, defaultValue } of operation.variableDefinitions ?? []) {
    const name = variable.name.value;
    const type = typeFromAST(schema, node) as GraphQLInputType;
    const description = descriptions.get(name);
    properties[name] = { ...valueSchema(type, maxItems), ...(description && { description }) };
    if (isNonNullType(type) && !defaultValue) required.push(name);
  }
  return { type: 'object', properties, required };
}

function findDescriptions(schema: GraphQLSchema, operation: OperationDefinitionNode): Map<string, string> {
  const info = new TypeInfo(schema);
  const found = new Map<string, string>();
  const add = (name: string, description: string | null | undefined) => description && found.set(name, description);
  visit(
    operation,
    visitWithTypeInfo(info, {
      Argument({ value }) {
        if (value.kind === Kind.VARIABLE) add(value.name.value, info.getArgument()?.description);
      },
      ObjectField({ name, value }) {
        const parent = getNamedType(info.getParentInputType());
        if (value.kind !== Kind.VARIABLE || !parent || !('getFields' in parent)) return;
        add(value.name.value, parent.getFields()[name.value]?.description);
      },
    }),
  );
  return found;
}

/** Nullable values may be null, as well as missing. */
function valueSchema(type: GraphQLInputType | GraphQLOutputType, maxItems?: number): object {
  const nullable = getNullableType(type);
  const schema = isListType(nullable)
    ? { type: 'array', items: valueSchema(nullable.ofType), ...(maxItems !== undefined && { maxItems }) }
    : isInputObjectType(nullable)
      ? inputObjectSchema(nullable)
      : scalarSchema(nullable);
  return isNonNullType(type) ? schema : orNull(schema);
}

function inputObjectSchema(type: GraphQLInputObjectType): JsonSchema {
  const fields = Object.values(type.getFields());
  const properties = fields.map((field) => [
    field.name,
    { ...valueSchema(field.type), description: field.description ?? '' },
  ]);
  const required = fields.filter(isRequiredInputField).map(({ name }) => name);
  return { type: 'object', properties: Object.fromEntries(properties), required };
}

function scalarSchema(type: GraphQLInputType | GraphQLOutputType): { type: string; enum?: string[] } {
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name) };
  const { name } = getNamedType(type);
  const types: Readonly<Record<string, string>> = { Int: 'integer', Float: 'number', Boolean: 'boolean' };
  return { type: types[name] ?? 'string' };
}

function orNull(schema: object): object {
  return { anyOf: [schema, { type: 'null' }] };
}

/** The properties of one selection: those that only some types of a union have are not required. */
interface Selected {
  properties: Record<string, object>;
  required: string[];
}

function createSelectionSchema(
  schema: GraphQLSchema,
  type: GraphQLOutputType,
  { selections }: SelectionSetNode,
): Selected {
  const selected: Selected = { properties: {}, required: [] };
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) {
      const name = (selection.alias ?? selection.name).value;
      // With @skip or @include, it may be missing.
      if (!selection.directives?.length) selected.required.push(name);
      selected.properties[name] = fieldSchema(schema, type, selection);
    } else if (selection.kind === Kind.INLINE_FRAGMENT) {
      const on = selection.typeCondition ? typeFromAST(schema, selection.typeCondition) : undefined;
      if (isOutputType(on))
        Object.assign(selected.properties, createSelectionSchema(schema, on, selection.selectionSet).properties);
    }
  }
  return selected;
}

function fieldSchema(schema: GraphQLSchema, parent: GraphQLOutputType, field: FieldNode): object {
  if (field.name.value === '__typename') return { type: 'string' };
  const parentType = getNamedType(parent);
  const type = 'getFields' in parentType ? parentType.getFields()[field.name.value]?.type : undefined;
  if (!type) throw new TypeError(`There is no field ${field.name.value}.`);
  const { selectionSet } = field;
  return selectionSet ? nest(type) : valueSchema(type);

  function nest(type: GraphQLOutputType): object {
    const nullable = getNullableType(type);
    if (!selectionSet) return valueSchema(type);
    const nested = isListType(nullable)
      ? { type: 'array', items: nest(nullable.ofType) }
      : objectOf(createSelectionSchema(schema, nullable, selectionSet));
    return isNonNullType(type) ? nested : orNull(nested);
  }
}

function objectOf({ properties, required }: Selected): JsonSchema {
  return { type: 'object', properties, required };
}
