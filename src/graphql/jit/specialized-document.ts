import {
  type ASTNode,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLSchema,
  Kind,
  type SelectionNode,
  TypeInfo,
  type ValueNode,
  valueFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { type FieldTypes, keyOfLocation } from './errors.ts';

type Values = Readonly<Record<string, unknown>>;

/** A document that graphql-jit compiles safely and correctly. Its arguments are variables. */
export interface SpecializedDocument {
  document: DocumentNode;
  /** The arguments that are constant, by the name of their variable. */
  literals: Values;
  /** The arguments that contain variables, by the name of their variable. */
  templates: ReadonlyMap<string, Template>;
  fieldTypes: FieldTypes;
}

interface Template {
  value: ValueNode;
  type: GraphQLInputType;
}

/**
 * Removes what graphql-jit compiles wrongly. It writes literals into the code that it generates, where text can become
 * code, so each becomes a variable. It merges the conditions (`@skip`, `@include`) of all places where a fragment is
 * used, so they are decided for these values of their variables.
 */
export function specializeDocument(
  schema: GraphQLSchema,
  original: DocumentNode,
  conditions: Values,
): SpecializedDocument {
  const literals: Record<string, unknown> = {};
  const templates = new Map<string, Template>();
  const fieldTypes = new Map<string, GraphQLOutputType>();
  const typeInfo = new TypeInfo(schema);
  let count = 0;

  const decide = (node: SelectionNode) => {
    const { directives = [] } = node;
    if (directives.length === 0) return undefined;
    return directives.every((directive) => includes(directive, conditions)) ? { ...node, directives: [] } : null;
  };
  const visitor = {
    Field(node: FieldNode) {
      addFieldType(node);
      return decide(node);
    },
    InlineFragment: decide,
    FragmentSpread: decide,
    Argument(node: { value: ValueNode }) {
      const { value } = node;
      addFieldType(value);
      const type = typeInfo.getInputType();
      if (value.kind === Kind.VARIABLE || !type) return undefined;
      const name = `${literalPrefix}${count}`;
      count += 1;
      const literal = hasVariable(value) ? undefined : valueFromAST(value, type);
      if (literal === undefined) templates.set(name, { value, type });
      else literals[name] = literal;
      return { ...node, value: { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: name }, loc: value.loc } };
    },
  };
  return { document: visit(original, visitWithTypeInfo(typeInfo, visitor)), literals, templates, fieldTypes };

  function addFieldType({ loc }: ASTNode): void {
    const type = typeInfo.getType();
    if (type && loc) fieldTypes.set(keyOfLocation(loc.startToken), type);
  }
}

/** Begins the names of additional variables. */
export const literalPrefix = '__literal';

/** Whether `@skip` or `@include` includes the selection. */
function includes({ name, arguments: [condition] = [] }: DirectiveNode, conditions: Values): boolean {
  const value = condition?.value;
  const isTrue =
    value?.kind === Kind.VARIABLE ? conditions[value.name.value] : value?.kind === Kind.BOOLEAN && value.value;
  return isTrue === (name.value === 'include');
}

function hasVariable(value: ValueNode): boolean {
  if (value.kind === Kind.LIST) return value.values.some(hasVariable);
  if (value.kind === Kind.OBJECT) return value.fields.some((field) => hasVariable(field.value));
  return value.kind === Kind.VARIABLE;
}
