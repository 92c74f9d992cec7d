import {
  type GraphQLField,
  type GraphQLSchema,
  isCompositeType,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
} from 'graphql';

interface ListSize {
  assumedSize?: number;
  slicingArguments?: readonly string[];
  sizedFields?: readonly string[];
}

type Extensions = Readonly<Record<string, unknown>>;

/** Of `@listSize`. */
export function listSizeOf(element: { extensions: Extensions }): ListSize | undefined {
  return findDirective<ListSize>(element, 'listSize');
}

/** Of `@cost`. */
export function weightOf(element: { extensions: Extensions }): number {
  return findDirective<{ weight: number }>(element, 'cost')?.weight ?? 0;
}

function findDirective<Arguments>({ extensions }: { extensions: Extensions }, name: string): Arguments | undefined {
  const { directives } = extensions as { directives?: readonly { name: string; args: Arguments }[] };
  return directives?.find((directive) => directive.name === name)?.args;
}

/** Also of introspection. */
export function findField(
  schema: GraphQLSchema,
  parent: string,
  name: string,
): GraphQLField<unknown, unknown> | undefined {
  const metaField = [SchemaMetaFieldDef, TypeMetaFieldDef, TypeNameMetaFieldDef].find((field) => field.name === name);
  if (metaField !== undefined) return metaField;
  const type = schema.getType(parent);
  return isCompositeType(type) && 'getFields' in type ? type.getFields()[name] : undefined;
}
