import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
  valueFromASTUntyped,
} from 'graphql';

interface Operation {
  schema: GraphQLSchema;
  operation: OperationDefinitionNode;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

/** As the client sent them, not coerced. */
type Variables = Readonly<Record<string, unknown>>;

/** Sizes the lists `fields` of the object in which they are selected. */
interface SizedFields {
  fields: readonly string[];
  size: number;
}

/**
 * The maximum number of fields in the response and of objects below its root, plus the weights (`@cost`) of fields and types:
 * fields times list sizes, with fragments expanded. An object takes about as much time as a field. A list has the length of its
 * list argument, its page size, or its maximum. Each fragment is expanded once per list size, so the time is linear in the
 * document. Fields that are skipped or merged are counted. Expects a valid document. Computed once if no variable sizes a list.
 */
export function createOperationCost(operation: Operation): (variables: Variables) => number {
  let known: number | null = null;
  return (variables) => {
    if (known !== null) return known;
    let isFixed = true;
    const cost = computeCost(operation, (name) => {
      isFixed = false;
      return Object.hasOwn(variables, name) ? { value: variables[name] } : null;
    });
    if (isFixed) known = cost;
    return cost;
  };
}

/** @param readVariable null: the client did not send it */
function computeCost(
  { schema, operation, fragments }: Operation,
  readVariable: (name: string) => { value: unknown } | null,
): number {
  const known = new Map<string, number>();
  return costOfSelections(operation.selectionSet, schema.getRootType(operation.operation)?.name ?? '', null);

  function costOfSelections({ selections }: SelectionSetNode, type: string, sized: SizedFields | null): number {
    let cost = 0;
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) cost += costOfField(selection, type, sized);
      else if (selection.kind === Kind.FRAGMENT_SPREAD) cost += costOfFragment(selection.name.value, sized);
      else cost += costOfSelections(selection.selectionSet, selection.typeCondition?.name.value ?? type, sized);
    }
    return cost;
  }

  function costOfFragment(name: string, sized: SizedFields | null): number {
    const key = `${name} ${sized?.size ?? ''}`;
    const fragment = fragments.get(name);
    if (fragment === undefined) return 0;
    const cost = known.get(key) ?? costOfSelections(fragment.selectionSet, fragment.typeCondition.name.value, sized);
    known.set(key, cost);
    return cost;
  }

  function costOfField(node: FieldNode, parent: string, sized: SizedFields | null): number {
    const field = findField(schema, parent, node.name.value);
    if (field === undefined) return 1;
    if (node.selectionSet === undefined) return 1 + weightOf(field);
    const listSize = listSizeOf(field);
    const page = listSize?.slicingArguments?.map((name) => readPageSize(node, field, name));
    const below = page && { fields: listSize?.sizedFields ?? [], size: Math.max(...page) };
    const size = sized?.fields.includes(field.name) ? sized.size : sizeOf(node, field, parent);
    const type = getNamedType(field.type);
    const item = 1 + weightOf(type) + costOfSelections(node.selectionSet, type.name, below ?? null);
    return 1 + weightOf(field) + size * item;
  }

  function sizeOf(node: FieldNode, field: GraphQLField<unknown, unknown>, parent: string): number {
    if (!isListType(getNullableType(field.type))) return 1;
    const lists = field.args.filter(({ type }) => isListType(getNullableType(type)));
    if (lists.length > 0) {
      const given = lists.map((list) => readArgument(node, list)).filter((value) => value != null);
      return given.length === 0 ? 1 : given.flat().length;
    }
    if (parent === '__Schema' && field.name === 'types') return Object.keys(schema.getTypeMap()).length;
    if (parent.startsWith('__')) return introspectedItems[field.name] ?? 1;
    const { maxItems = defaultItems } = field.extensions as { maxItems?: number };
    return listSizeOf(field)?.assumedSize ?? maxItems;
  }

  function readPageSize(node: FieldNode, field: GraphQLField<unknown, unknown>, name: string): number {
    const argument = field.args.find((one) => one.name === name);
    const value = argument && readArgument(node, argument);
    return typeof value === 'number' && value > 0 ? Math.min(value, maxPage) : maxPage;
  }

  function readArgument(node: FieldNode, argument: GraphQLArgument): unknown {
    const value = node.arguments?.find(({ name }) => name.value === argument.name)?.value;
    if (value === undefined) return argument.defaultValue;
    if (value.kind === Kind.LIST) return value.values;
    if (value.kind !== Kind.VARIABLE) return valueFromASTUntyped(value);
    const name = value.name.value;
    const sent = readVariable(name);
    if (sent) return sent.value;
    const definition = operation.variableDefinitions?.find(({ variable }) => variable.name.value === name);
    return definition?.defaultValue ? valueFromASTUntyped(definition.defaultValue) : argument.defaultValue;
  }
}

/** Lists that declare no size, such as `allowances`, have at most this many items. */
const defaultItems = 5;
/** Resolvers reject larger pages. */
const maxPage = 100;
/** The lists of introspection, about twice their average over the types; lists that are not named here: 1. */
const introspectedItems: Readonly<Record<string, number>> = { fields: 6, directives: 12 };

interface ListSize {
  assumedSize?: number;
  slicingArguments?: readonly string[];
  sizedFields?: readonly string[];
}

type Extensions = Readonly<Record<string, unknown>>;

/** What `@listSize` declares. */
function listSizeOf(element: { extensions: Extensions }): ListSize | undefined {
  return findDirective<ListSize>(element, 'listSize');
}

/** What `@cost` declares. */
function weightOf(element: { extensions: Extensions }): number {
  return findDirective<{ weight: number }>(element, 'cost')?.weight ?? 0;
}

function findDirective<Arguments>({ extensions }: { extensions: Extensions }, name: string): Arguments | undefined {
  const { directives } = extensions as { directives?: readonly { name: string; args: Arguments }[] };
  return directives?.find((directive) => directive.name === name)?.args;
}

/** Finds a field of a type, or an introspection field. */
function findField(schema: GraphQLSchema, parent: string, name: string): GraphQLField<unknown, unknown> | undefined {
  const metaField = [SchemaMetaFieldDef, TypeMetaFieldDef, TypeNameMetaFieldDef].find((field) => field.name === name);
  if (metaField !== undefined) return metaField;
  const type = schema.getType(parent);
  return isCompositeType(type) && 'getFields' in type ? type.getFields()[name] : undefined;
}
