import { fromJsonSchema, type JsonSchemaType, type StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import {
  type ASTNode,
  type DocumentNode,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  getOperationAST,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { readProperty } from '../../base/parse-json.ts';

/** A JSON Schema, as tools have it. */
interface ObjectSchema {
  type: 'object';
  properties: Record<string, object>;
  required: string[];
  additionalProperties?: false;
}

/**
 * The schemas of a tool, from the variables and the selection of the only operation of a valid document. Each variable is described as
 * the argument or input field in which it is used.
 * @param maxItems the longest list of arguments
 */
export function createToolSchemas(schema: GraphQLSchema, document: DocumentNode, maxItems: number) {
  const info = new TypeInfo(schema);
  const input = createInputSchema();
  const output = createObjectSchema();
  /** The objects around the present field, the innermost last. */
  const objects = [output];
  const describe = (variable: string, description: string | null | undefined): void => {
    if (description) input.properties[variable] = { ...input.properties[variable], description };
  };

  const visitor = visitWithTypeInfo(info, {
    VariableDefinition({ variable, defaultValue }) {
      const name = variable.name.value;
      const type = info.getInputType() as GraphQLInputType;
      input.properties[name] = valueSchema(type, { maxItems });
      if (isNonNullType(type) && !defaultValue) input.required.push(name);
    },
    Argument({ value }) {
      if (value.kind === Kind.VARIABLE) describe(value.name.value, info.getArgument()?.description);
    },
    ObjectField({ name, value }) {
      const parent = getNamedType(info.getParentInputType());
      if (value.kind !== Kind.VARIABLE || !isInputObjectType(parent)) return;
      describe(value.name.value, parent.getFields()[name.value]?.description);
    },
    InlineFragment: {
      // Its fields may be missing: an object of another type of the union does not have them.
      enter: () => void objects.push({ ...createObjectSchema(), properties: objects.at(-1)?.properties ?? {} }),
      leave: () => void objects.pop(),
    },
    Field: {
      enter({ selectionSet }) {
        if (selectionSet) objects.push(createObjectSchema());
      },
      leave({ name, alias, directives, selectionSet }) {
        const object = selectionSet && objects.pop();
        const parent = objects.at(-1) ?? output;
        const key = (alias ?? name).value;
        parent.properties[key] = valueSchema(info.getType() as GraphQLOutputType, { object });
        // With @skip or @include, it may be missing.
        if (!directives?.length) parent.required.push(key);
      },
    },
  });
  visit(inlineFragments(document), visitor);
  return { input, output };
}

function createObjectSchema(): ObjectSchema {
  return { type: 'object', properties: {}, required: [] };
}

/** Others are refused: a consent and a number of calls would be for them, too, and a wrong name would have no effect. */
function createInputSchema(): ObjectSchema {
  return { ...createObjectSchema(), additionalProperties: false };
}

/** The only operation, with the fields of fragments in place of their spreads. */
function inlineFragments(document: DocumentNode): ASTNode {
  const fragments = new Map(
    document.definitions.flatMap((node) => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node]] : [])),
  );
  return visit<ASTNode>(getOperationAST(document) ?? document, {
    FragmentSpread: ({ name, directives }) => ({
      ...fragments.get(name.value),
      kind: Kind.INLINE_FRAGMENT,
      directives,
    }),
  });
}

interface ValueOptions {
  /** The schema of an object, if the type has fields that are selected. */
  object?: ObjectSchema | undefined;
  maxItems?: number;
}

/** Nullable values may be null, as well as missing. */
function valueSchema(type: GraphQLInputType | GraphQLOutputType, { object, maxItems }: ValueOptions = {}): object {
  const nullable = getNullableType(type);
  const schema = isListType(nullable)
    ? { type: 'array', items: valueSchema(nullable.ofType, { object }), ...(maxItems !== undefined && { maxItems }) }
    : (object ?? (isInputObjectType(nullable) ? inputObjectSchema(nullable) : scalarSchema(nullable)));
  return isNonNullType(type) ? schema : { anyOf: [schema, { type: 'null' }] };
}

function inputObjectSchema(type: GraphQLInputObjectType): ObjectSchema {
  const schema = createInputSchema();
  for (const field of Object.values(type.getFields())) {
    schema.properties[field.name] = { ...valueSchema(field.type), description: field.description ?? '' };
    if (isRequiredInputField(field)) schema.required.push(field.name);
  }
  return schema;
}

function scalarSchema(type: GraphQLInputType | GraphQLOutputType): { type: string; enum?: string[] } {
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name) };
  const { name } = getNamedType(type);
  const types: Readonly<Record<string, string>> = { Int: 'integer', Float: 'number', Boolean: 'boolean' };
  return { type: types[name] ?? 'string' };
}

/** Compiled by the first call of the tool: those of all tools would take 100 ms of the first request. */
export function compileLater<T>(schema: JsonSchemaType): StandardSchemaWithJSON<T> {
  let compiled: StandardSchemaWithJSON<T> | undefined;
  return {
    '~standard': {
      version: 1,
      vendor: 'ledgerquill',
      jsonSchema: { input: () => schema, output: () => schema },
      async validate(value) {
        compiled ??= fromJsonSchema<T>(schema);
        const result = await compiled['~standard'].validate(value);
        if (!result.issues) return result;
        return { issues: result.issues.map(({ message }) => ({ message: nameArguments(message, schema, value) })) };
      },
    },
  };
}

/**
 * The problems of all values, which are one message of the validator, at most 500 characters. Arguments have their names, also those that
 * the tool does not have, which the validator leaves out.
 */
function nameArguments(message: string, schema: JsonSchemaType, value: unknown): string {
  // A value of a wrong type is also not null, and of no schema that a nullable value may have.
  const problems = message.split(/, (?=data)/).filter((part) => !/ must (be null|match a schema in anyOf)$/.test(part));
  // Each unknown argument has the same problem.
  const named = [...new Set(problems)].slice(0, 20).map((problem) => {
    const [, path = '', rule = ''] = /^data(\S*) (.*)$/.exec(problem) ?? [];
    const keys = path.split('/').slice(1);
    const name = keys.join('.') || 'The arguments';
    const { properties = {}, enum: values = [] } = keys.reduce(schemaOf, schema as ValueSchema);
    if (rule.endsWith('the allowed values')) return `${name} must be one of ${values.join(', ')}`;
    if (rule !== 'must NOT have additional properties') return `${name} ${rule}`;
    const sent = Object.keys(keys.reduce(readProperty, value) ?? {});
    const unknown = sent.filter((key) => !Object.hasOwn(properties, key));
    return `${name} must not have ${unknown.join(', ')}, only ${Object.keys(properties).join(', ')}`;
  });
  return named.join('; ').slice(0, 500);
}

interface ValueSchema {
  properties?: Readonly<Record<string, ValueSchema>>;
  enum?: readonly string[];
  anyOf?: readonly ValueSchema[];
}

/** The schema of a property, without null. No argument is a list of objects. */
function schemaOf({ properties }: ValueSchema, key: string): ValueSchema {
  const schema = properties?.[key] ?? {};
  return schema.anyOf?.[0] ?? schema;
}
