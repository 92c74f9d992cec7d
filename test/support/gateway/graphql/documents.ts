import {
  type ExecutionResult,
  execute,
  type GraphQLError,
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  getOperationAST,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredArgument,
  isRequiredInputField,
  isUnionType,
  Kind,
} from 'graphql';
import { AbortableSignal } from '../../../../src/base/async/signal.ts';
import { createRedact } from '../../../../src/base/redact.ts';
import { locate, parseDetached } from '../../../../src/gateway/graphql/documents/document-errors.ts';
import { createPreparedDocuments } from '../../../../src/gateway/graphql/documents/documents.ts';
import { describeFailure } from '../../../../src/gateway/graphql/request/present-error.ts';
import { type Context, createContext, type Services } from '../../../../src/gateway/graphql/schema/context.ts';
import { schema } from '../../../../src/gateway/graphql/schema/schema.ts';
import { turns } from '../../turns.ts';
import { tCaller } from '../callers.ts';
import type { RandomRequest } from './random-documents.ts';
import { tServices } from './scripted-services.ts';

/** The prepared documents of a gateway, and a function that executes one of them. */
export function tDocuments() {
  const { prepare, status } = createPreparedDocuments({ schema, hasCallers: false });

  async function run({ query, variables }: RandomRequest): Promise<Outcome> {
    const { errors, operation } = prepare(query);
    if (errors.length > 0) return toOutcome({ errors });
    const name = query.startsWith('query A') ? 'A' : null;
    const outcome = toOutcome(await operation(name).execute(tContext(), variables));
    // The next operation is compiled after the current one.
    await turns(3);
    return outcome;
  }

  return { prepare, status, run };
}

/** The only operation of a document, as it is compiled and as its cost is computed. */
export function tOperation(query: string) {
  const document = parseDetached(query);
  const definition = getOperationAST(document);
  if (!definition) throw new Error('the document has no single operation');
  const fragments = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  return { document, definition, fragments: new Map(fragments.map((node) => [node.name.value, node])) };
}

/* What the execution of a request results in, as far as clients see it. */

export interface Outcome {
  data: string | undefined;
  errors: readonly string[];
}

/** As GraphQL.js executes it. */
export async function interpret({ query, variables }: RandomRequest): Promise<Outcome> {
  const document = parseDetached(query);
  return toOutcome(await execute({ schema, document, variableValues: variables, contextValue: tContext() }));
}

/** The order of errors is that in which look-ups fail. */
export function toOutcome({ data, errors = [] }: ExecutionResult): Outcome {
  return { data: JSON.stringify(data), errors: errors.map(describeError).sort() };
}

function describeError(error: GraphQLError): string {
  const { message, extensions, isExpected } = describeFailure(error, { hidesSuggestions: false, redact });
  return JSON.stringify({ message, code: extensions.code, path: error.path, locations: locate(error), isExpected });
}

const redact = createRedact([]);

export function tContext(services: Services = tServices()): Context {
  return createContext(services, tCaller, new AbortableSignal());
}

/** The texts for the numbers from 0 on, joined. */
export function repeat(count: number, create: (index: number) => string, separator = ' '): string {
  return Array.from({ length: count }, (_, index) => create(index)).join(separator);
}

/** Fields that need no scope, or check the one of what they find: they return nothing of either service to a caller who may not use it. */
export const openFields = ['Query._entities', 'Query.allowances', 'Query.limits', 'Query.node'];

export const rootFields = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
  Object.values(type?.getFields() ?? {}).map((field) => ({ type: String(type), field, name: `${type}.${field.name}` })),
);
export const scopedFields = rootFields.filter(({ name }) => !openFields.includes(name));
const union = schema.getType('_Entity');
export const entities = isUnionType(union) ? union.getTypes() : [];

/** A value that is valid for GraphQL. */
function exampleOf(type: GraphQLInputType): string {
  if (isNonNullType(type)) return exampleOf(type.ofType);
  if (isListType(type)) return `[${exampleOf(type.ofType)}]`;
  if (isEnumType(type)) return type.getValues()[0]?.name ?? '';
  if (!isInputObjectType(type)) return type.name === 'Int' ? '7' : '"DE"';
  const required = Object.values(type.getFields()).filter(isRequiredInputField);
  return `{ ${required.map((field) => `${field.name}: ${exampleOf(field.type)}`).join()} }`;
}

/** Selects a root field with all required arguments. */
export function selectionOf({ name, args, type }: GraphQLField<unknown, unknown>, directive = ''): string {
  const required = args.filter(isRequiredArgument).map((arg) => `${arg.name}: ${exampleOf(arg.type)}`);
  const isComposite = 'getFields' in getNamedType(type) || isUnionType(getNamedType(type));
  return `${name}${required.length > 0 ? `(${required.join()})` : ''}${directive}${isComposite ? ' { __typename }' : ''}`;
}
