import type { StandardSchemaWithJSON, ToolAnnotations } from '@modelcontextprotocol/server';
import {
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  separateOperations,
  validate,
} from 'graphql';
import { messageOf, type ServiceName, serviceNames } from '../../base/errors.ts';
import { countOf } from '../../base/process/terminal.ts';
import type { TrustedDocuments } from '../graphql/documents/trusted-documents.ts';
import type { Events } from '../telemetry/events.ts';
import { compileLater, createToolSchemas } from './tool-schemas.ts';

/** Arguments of a call, valid by the input schema of the tool. */
export type Arguments = Readonly<Record<string, unknown>>;

/** A GraphQL operation that agents can call. */
export interface Tool {
  /** The name of its operation. */
  name: string;
  /** With one operation, whose root fields are of one service. */
  document: string;
  /** The service that it may call, and whose scope its caller needs. */
  service: ServiceName;
  /** Whether it never calls a service. */
  isFree: boolean;
  /** The most paid calls that its operator permits. One that may need more is refused. */
  maxCalls(args: Arguments): number;
  /** Whether its arguments get an idempotency key that is derived from the others, if they have none. */
  hasKey: boolean;
  /** How clients see it. */
  listed: {
    title: string;
    /** For models: what it answers, and what it costs. */
    description: string;
    inputSchema: StandardSchemaWithJSON<Arguments>;
    outputSchema: StandardSchemaWithJSON;
    annotations: ToolAnnotations;
  };
}

export interface ToolOptions {
  schema: GraphQLSchema;
  documents: Pick<TrustedDocuments, 'texts' | 'onReloaded'> | null;
  /** The longest list of IBANs. */
  maxIbans: number;
  events: Pick<Events, 'toolInvalid' | 'unexpectedError'>;
}

/** Lists the fixed tools, and the trusted documents of the operator, if their operation has `@tool` in its description. */
export function createToolList(options: ToolOptions): () => readonly Tool[] {
  const { documents, events } = options;
  const operations = Object.values(separateOperations(parse(fixedTools, { noLocation: true })));
  const fixed = operations.flatMap((document) => readTool(document, options, true) ?? []);
  let list = read();
  documents?.onReloaded(() => {
    list = read();
  });
  return () => list;

  function read(): Tool[] {
    const byName = new Map(fixed.map((tool) => [tool.name, tool]));
    for (const text of documents?.texts() ?? []) {
      try {
        const tool = text.includes('@tool') ? readTool(parse(text, { noLocation: true }), options) : null;
        if (tool && byName.has(tool.name)) throw new Error(`two tools have the name ${tool.name}`);
        if (tool) byName.set(tool.name, tool);
      } catch (error) {
        events.toolInvalid(messageOf(error));
      }
    }
    return [...byName.values()];
  }
}

/** Null if its only operation is not marked. @throws Error with a problem for operators */
function readTool(document: DocumentNode, { schema, maxIbans }: ToolOptions, isFixed = false): Tool | null {
  const operations = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  const [operation] = operations;
  const mark = readMark(operation?.description?.value ?? '');
  if (!operation || mark === null) return null;
  const [problem] = validate(schema, document);
  if (problem) throw problem;
  const name = operation.name?.value ?? '';
  const service = findService(schema, operation);
  if (name === '' || operations.length > 1 || service === null) {
    const rule = 'must be one query or mutation with a name, whose root fields are of one service';
    throw new Error(`${name || 'it'} ${rule}`);
  }
  // The SDK finds tools by their names in an object.
  if (name in {}) throw new Error(`${name} must have another name: this is a property of every JavaScript object`);
  const { input, output } = createToolSchemas(schema, document, maxIbans);
  if ('confirmation' in input.properties)
    throw new Error(`${name} must have no variable confirmation: it is the argument with the consent of a user`);
  // A query may find an order by its id or its key.
  const isReadOnly = operation.operation === 'query';
  const hasKey = !isReadOnly && 'idempotencyKey' in input.properties;
  if (hasKey) input.required = input.required.filter((argument) => argument !== 'idempotencyKey');
  const { summary, calls } = mark;
  const most = calls ? countOf(calls, 'paid call') : 'one paid call, or one for each item of its lists';
  const countItems = (args: Arguments) => Math.max(1, Object.values(args).filter(Array.isArray).flat().length);
  const maxCalls = (args: Arguments) => (isFixed ? Number.POSITIVE_INFINITY : (calls ?? countItems(args)));
  const isFree = isFixed && freeTools.has(name);
  if (!isFree) input.properties.confirmation = confirmationSchema;
  const title = summary.split('\n')[0] || name;
  const hints = { readOnlyHint: isReadOnly, destructiveHint: false, idempotentHint: true, openWorldHint: true };
  const listed = {
    title,
    description: isFixed ? summary : `${summary}\nCosts at most ${most}.`.trim(),
    inputSchema: compileLater<Arguments>(input),
    outputSchema: compileLater(output),
    annotations: { ...hints, title },
  };
  return { name, document: print(document), service, isFree, maxCalls, hasKey, listed };
}

/**
 * `@tool`, or `@tool(calls: 3)` with the most paid calls, and the rest of the description; null without it.
 * @throws Error with a problem for operators
 */
function readMark(description: string): { summary: string; calls: number | null } | null {
  const [text, options] = /(?<![\w.])@tool(?![\w-])(\(.*?(?:\)|$))?/m.exec(description) ?? [];
  if (text === undefined) return null;
  const summary = description.replace(text, '').trim();
  if (options === undefined) return { summary, calls: null };
  const [, calls] = /^\(calls: ?([1-9]\d{0,8})\)$/.exec(options) ?? [];
  if (calls === undefined) throw new Error(`${text} must have a number of paid calls from 1, such as @tool(calls: 3)`);
  return { summary, calls: Number(calls) };
}

/** The service of all root fields of a query or mutation; null if they have several, or none. */
function findService(schema: GraphQLSchema, { operation, selectionSet }: OperationDefinitionNode): ServiceName | null {
  if (operation === 'subscription') return null;
  const fields = schema.getRootType(operation)?.getFields();
  const scopes = selectionSet.selections.map(
    (field) => field.kind === Kind.FIELD && fields?.[field.name.value]?.extensions.scope,
  );
  return serviceNames.find((service) => scopes.every((scope) => scope === service)) ?? null;
}

/** The argument for the consent to a call. */
const confirmationSchema = {
  type: 'string',
  maxLength: 1_000,
  description: 'Only to repeat a call after the user has agreed to it: the text that its result had.',
};

/** The tool whose calls are tasks for clients that have the extension. */
export const orderTool = 'order_essay';

/** The fixed tools that never call a service. */
const freeTools: ReadonlySet<string> = new Set(['iban_format', 'find_essay']);

/** What agents read of an essay order. */
export const orderFragment = `fragment Order on EssayOrder {
  id createdAt
  state {
    __typename ... on EssayQueued { position } ... on EssayWriting { wordCount } ... on EssayCancelled { mayHaveBeenPaid }
    ... on EssayFinished { essay { id title text wordCount createdAt keptUntil isStored } }
    ... on EssayFailed { failure { ... on UserError { message } } }
  }
}`;

/** The operations of the fixed tools, executed and described like those of an operator. */
const fixedTools = /* GraphQL */ `"""
Check the format of an IBAN, free of charge
Free: never calls a paid service. Checks length, structure and check digits of an IBAN, its national check digits, whether a bank list
has its bank code, and which valid IBANs a typing error may have turned into it. Use it first; use check_iban only if the name of the
bank or the answer of the bank-data service is needed.
@tool
"""
query iban_format($iban: String!) {
  ibanValidation(iban: $iban) {
    iban format { isWellFormed problems countryCode bankCode printFormat } nationalCheck bankCodeStatus bics suggestions
  }
}

"""
Check an IBAN and find its bank
Checks an IBAN with the bank-data service, and finds the bank. Costs at most one paid call; nothing if the IBAN is not well-formed, or
was looked up before. It does not say whether the account exists.
@tool
"""
query check_iban($iban: String!) {
  ibanValidation(iban: $iban) {
    iban valid problems nationalCheck bankData { name bic city bankCode countryCode } suggestions
  }
}

"""
Check a list of IBANs and find their banks
Checks IBANs with the bank-data service, in the order of the list, and finds their banks. Costs at most one paid call for each
different well-formed IBAN that was not looked up before; others are free.
@tool
"""
query check_ibans($ibans: [String!]!) {
  ibanValidations(ibans: $ibans) { iban valid problems bankData { name bic } }
}

"""
Check a BIC and find its bank
Checks a BIC (SWIFT code) with the bank-data service, and finds the bank. Costs at most one paid call; nothing if it is not
well-formed, or was looked up before.
@tool
"""
query check_bic($bic: String!) {
  bicValidation(bic: $bic) { bic valid problems isTest bankData { name city bankCode countryCode } suggestions }
}

"""
Generate an IBAN from its parts
Computes the IBAN of a bank account from its parts. Costs at most one paid call; nothing if a part has a wrong format. ibanRule UNKNOWN: a
German bank may use another IBAN.
@tool
"""
query generate_iban($country: String!, $bankCode: String, $branch: String, $accountNumber: String) {
  generateIban(input: { country: $country, bankCode: $bankCode, branch: $branch, accountNumber: $accountNumber }) {
    __typename ... on IbanValidation { iban valid ibanRule bankData { name bic } }
    ... on InvalidIbanFields { message fields { name reason message } suggestions }
  }
}

"""
Order an essay
Orders an essay. Costs one paid call, which cannot be undone. Returns the order at once; read it with find_essay for up to two
minutes. The same order is paid for once, and with the idempotencyKey that its result names also in other words; another one orders another essay.
@tool
"""
mutation order_essay(
  $description: String!, $wordCount: Int!, $mode: EssayMode, $purpose: WritingPurpose, $titles: [String!], $idempotencyKey: ID!
) {
  startEssay(input: {
    description: $description, wordCount: $wordCount, mode: $mode, purpose: $purpose, titles: $titles, idempotencyKey: $idempotencyKey
  }) { __typename ... on EssayOrder { ...Order } ... on UserError { message } }
}

"""
Read an ordered essay
Free: never calls a paid service. Finds an order by its id or idempotencyKey, with its essay.
@tool
"""
query find_essay($id: ID, $idempotencyKey: ID) {
  essayOrder(id: $id, idempotencyKey: $idempotencyKey) { ...Order }
}

${orderFragment}`;
