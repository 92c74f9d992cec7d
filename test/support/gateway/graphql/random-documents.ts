import {
  type ConstValueNode,
  type DocumentNode,
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isUnionType,
  Kind,
  parse,
  print,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  typeFromAST,
  type ValueNode,
  validate,
  visit,
} from 'graphql';
import type { Random } from '../../random.ts';

export interface RandomRequest {
  query: string;
  variables: Record<string, unknown>;
  operationName?: string;
}

/** Texts for arguments, by the name of the argument. */
export type Texts = Readonly<Record<string, readonly string[]>>;

/** Requests of every kind: queries, mutations, several operations, and documents that are not valid. The same for the same seed. */
export function createRandomRequests(schema: GraphQLSchema, random: Random, texts: Texts): () => RandomRequest {
  const chance = (percent: number) => random(99) < percent;
  const pick = <T>(choices: readonly T[]): T => choices[random(choices.length - 1)] as T;
  const nextQuery = createRandomQueries(schema, random, texts);
  const nextMutation = createRandomQueries(schema, random, texts, schema.getMutationType());

  return () => {
    const request = chance(12) ? nextMutation() : nextQuery();
    const named = chance(15) ? withOperationName(request) : request;
    return chance(35) ? { ...named, query: breakDocument(named.query) } : named;
  };

  function withOperationName({ query, variables }: RandomRequest): RandomRequest {
    const [, own] = /^\w+ (\w+)/.exec(query) ?? [];
    const others = pick([
      '',
      ' query Other { __typename }',
      ' mutation Other { __typename } query Third { t: __typename }',
    ]);
    const operationName = pick([own, own, 'Other', 'Missing', 'toString', undefined]);
    return { query: query + others, variables, ...(operationName && { operationName }) };
  }

  /** Changes a token, or adds what is not valid in most places. */
  function breakDocument(query: string): string {
    const tokens: string[] = query.match(/"(?:[^"\\]|\\.)*"|\.{3}|[$@]?\w+|[^\s\w]/g) ?? [];
    const index = random(tokens.length - 1);
    const token = tokens[index] ?? '';
    const names = tokens.filter((other) => /^\w/.test(other));
    const replacement = pick<() => string>([
      () => '',
      () => `${token} ${token}`,
      () => pick(tokens),
      () => pick(tokens),
      () => pick([...names, 'nothing', 'subscription', 'null', '1', 'COUNTRY']),
      () =>
        `${token} ${pick(['nothing', '$nothing', '@nothing', '@include', '...Nothing', '"', '{', ')', '%', '\u0000'])}`,
      () => `${token} ${pick(['# ', '#"\n', '\n', '\r\n\t', ',', '\ufeff'])}`,
    ])();
    const changed = tokens.with(index, replacement).join(' ');
    return pick([changed, changed, changed, `${query} fragment Unused on Query { ...Unused }`, `${query} ${query}`]);
  }
}

/**
 * Valid queries with fragments, aliases, conditions and variables; most variables are valid. The same for the same seed.
 * @param root the type of the operations, if they are not queries
 */
function createRandomQueries(
  schema: GraphQLSchema,
  random: Random,
  texts: Texts,
  root = schema.getQueryType(),
): () => RandomRequest {
  const chance = (percent: number) => random(99) < percent;
  const pick = <T>(choices: readonly T[]): T => choices[random(choices.length - 1)] as T;

  return () => {
    for (;;) {
      const request = create();
      if (validate(schema, parse(request.query)).length === 0) return request;
    }
  };

  function create(): RandomRequest {
    const definitions: string[] = [];
    const variables: Record<string, unknown> = {};
    const fragments: string[] = [];
    const fragmentNames: { name: string; type: string }[] = [];
    const argumentsOf = new Map<string, string>();
    // Operations with conditions are not compiled.
    const hasConditions = chance(50);
    const selections = select(root as GraphQLCompositeType, 5);
    const kind = root === schema.getMutationType() ? 'mutation' : 'query';
    const head = `${kind} ${pick(['', 'Q', 'toString'])}${definitions.length > 0 ? `(${definitions.join(', ')})` : ''}`;
    return { query: `${head} ${selections} ${fragments.join(' ')}`, variables };

    function select(type: GraphQLCompositeType, depth: number): string {
      const count = 1 + random(3);
      return `{ ${Array.from({ length: count }, () => selection(type, depth)).join(' ')} }`;
    }

    function selection(type: GraphQLCompositeType, depth: number): string {
      if (chance(6)) return `${chance(50) ? `${alias('t')}: ` : ''}__typename${condition()}`;
      if (isAbstractType(type) || chance(12)) return fragmentOn(type, depth);
      if (depth === 0 || isUnionType(type)) return '__typename';
      const isAboutSchema = type === schema.getQueryType() && chance(5);
      const fields = isAboutSchema ? [SchemaMetaFieldDef, TypeMetaFieldDef] : Object.values(type.getFields());
      const field = pick(fields.filter(({ name }) => name !== '_service' || chance(10)));
      const named = getNamedType(field.type);
      const below = isCompositeType(named) ? ` ${select(named, depth - 1)}` : '';
      const name = chance(35) ? `${alias(field.name)}: ${field.name}` : field.name;
      return `${name}${readArguments(type, field)}${condition()}${below}`;
    }

    function fragmentOn(type: GraphQLCompositeType, depth: number): string {
      const possible = isAbstractType(type) ? [...schema.getPossibleTypes(type), ...interfacesOf(type)] : [type];
      const target = pick(possible);
      const known = fragmentNames.filter((fragment) => fragment.type === target.name);
      if (known.length > 0 && chance(60)) return `...${pick(known).name}${condition()}`;
      const isBare = target === type && chance(30);
      const body = select(target, Math.max(depth - 1, 0));
      if (isBare || chance(50)) return `...${isBare ? '' : ` on ${target.name}`}${condition()} ${body}`;
      const name = pick(['F', 'constructor', 'a_b', '__f', 'hasOwnProperty']) + fragmentNames.length;
      fragmentNames.push({ name, type: target.name });
      fragments.push(`fragment ${name} on ${target.name} ${body}`);
      return `...${name}${condition()}`;
    }

    function interfacesOf(type: GraphQLCompositeType): GraphQLCompositeType[] {
      return schema.getPossibleTypes(type as never).flatMap((one) => [...one.getInterfaces()]);
    }

    function alias(name: string): string {
      const odd = [
        'constructor',
        'toString',
        'hasOwnProperty',
        'valueOf',
        '__defineGetter__',
        'then',
        'length',
        '__proto',
      ];
      return chance(40) ? pick(odd) : pick([`${name}_`, `_${name}`, `a_${name}`, 'a', `__${name}`, `${name}0`]);
    }

    function condition(): string {
      if (!hasConditions || !chance(20)) return '';
      const value = () => (chance(25) ? pick(['true', 'false']) : conditionVariable());
      return pick([
        () => ` @include(if: ${value()})`,
        () => ` @skip(if: ${value()})`,
        () => ` @skip(if: ${value()}) @include(if: ${value()})`,
      ])();
    }

    function conditionVariable(): string {
      const name = pick(['c0', 'c1', '__c', 'constructor_']);
      if (!definitions.some((text) => text.startsWith(`$${name}:`))) {
        const hasDefault = chance(30);
        definitions.push(`$${name}: Boolean${hasDefault ? ` = ${chance(50)}` : '!'}`);
        if (!hasDefault || chance(50)) variables[name] = chance(3) ? pick([null, 'true', 1]) : chance(50);
      }
      return `$${name}`;
    }

    /** Usually the same for the same field, so that fields can be merged. */
    function readArguments(type: GraphQLCompositeType, { name, args }: GraphQLField<unknown, unknown>): string {
      const key = `${type.name}.${name}`;
      const known = argumentsOf.get(key);
      if (known !== undefined && chance(90)) return known;
      const values = args.flatMap((arg) => {
        const text = readArgument(arg);
        return text === null ? [] : [`${arg.name}: ${text}`];
      });
      const text = values.length > 0 ? `(${values.join(', ')})` : '';
      argumentsOf.set(key, text);
      return text;
    }

    function readArgument({ name, type }: GraphQLArgument): string | null {
      if (!isNonNullType(type) && chance(40)) return null;
      return chance(45) ? variable(name, type) : literal(name, type);
    }

    function variable(name: string, type: GraphQLInputType): string {
      const odd = ['__proto__', 'constructor', 'toString', 'input', 'errors', 'coerced', name];
      const variableName = chance(25) ? pick(odd) : `v${definitions.length}`;
      if (definitions.some((text) => text.startsWith(`$${variableName}:`))) return literal(name, type);
      const nullable = isNonNullType(type) ? type.ofType : type;
      const hasDefault = chance(20);
      const isNullable = hasDefault || (!isNonNullType(type) && chance(60));
      const suffix = hasDefault ? ` = ${literal(name, nullable, true)}` : '';
      definitions.push(`$${variableName}: ${nullable}${isNullable ? '' : '!'}${suffix}`);
      if (isNullable && chance(30)) return `$${variableName}`;
      const wrong = [null, 5, 1.5, 'x', '', [], ['x', null], {}, { country: 'DE', nothing: 1 }, true, -1];
      const sent = chance(8) ? pick(wrong) : value(name, type);
      Object.defineProperty(variables, variableName, { value: sent, enumerable: true, configurable: true });
      return `$${variableName}`;
    }

    function literal(name: string, type: GraphQLInputType, isConstant = false): string {
      if (isNonNullType(type)) return literal(name, type.ofType, isConstant);
      if (!isConstant && chance(4)) return variable(name, type);
      if (isListType(type)) {
        if (chance(15)) return literal(name, type.ofType, isConstant);
        return `[${Array.from({ length: random(4) }, () => literal(name, type.ofType, isConstant)).join(', ')}]`;
      }
      if (isInputObjectType(type)) {
        const fields = Object.values(type.getFields()).flatMap((field) => {
          if (!isNonNullType(field.type) && chance(30)) return [];
          const isVariable = !isConstant && chance(25);
          return [
            `${field.name}: ${isVariable ? variable(field.name, field.type) : literal(field.name, field.type, isConstant)}`,
          ];
        });
        return `{ ${fields.join(', ')} }`;
      }
      if (isEnumType(type)) return pick(type.getValues()).name;
      const found = value(name, type);
      return typeof found === 'object' ? objectLiteral(found) : JSON.stringify(found);
    }

    function value(name: string, type: GraphQLInputType): unknown {
      if (isNonNullType(type)) return value(name, type.ofType);
      if (isListType(type)) {
        return chance(15)
          ? value(name, type.ofType)
          : Array.from({ length: random(4) }, () => value(name, type.ofType));
      }
      if (isEnumType(type)) return pick(type.getValues()).name;
      if (isInputObjectType(type)) {
        const fields = Object.values(type.getFields()).filter((field) => isNonNullType(field.type) || chance(70));
        return Object.fromEntries(fields.map((field) => [field.name, value(field.name, field.type)]));
      }
      if (type.name === 'Int') return pick([1, 2, 20, 100, 0]);
      if (type.name === 'Boolean') return chance(50);
      if (type.name === '_Any') return representation();
      if (type.name === 'ID' && chance(20)) return 7;
      return pick(texts[name] ?? texts.other ?? ['']);
    }

    function representation(): object {
      return pick([
        () => ({ __typename: 'IbanValidation', iban: pick(texts.iban ?? []) }),
        () => ({ __typename: 'BankData', id: `DE::${pick(texts.bic ?? [])}` }),
        () => ({ __typename: 'IbanCountry', code: pick(texts.code ?? []) }),
        () => ({ __typename: pick(['Missing', 'constructor', '__proto__']) }),
        () => ({ __typename: 'IbanCountry', code: 1 }),
      ])();
    }
  }
}

function objectLiteral(value: object | null): string {
  return `{ ${Object.entries(value ?? {})
    .map(([name, text]) => `${name}: ${JSON.stringify(text)}`)
    .join(', ')} }`;
}

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
