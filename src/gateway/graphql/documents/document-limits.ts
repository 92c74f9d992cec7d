import {
  type ASTVisitor,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLSchema,
  GraphQLString,
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
  isSpecifiedScalarType,
  Kind,
  Lexer,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  Source,
  TokenKind,
  typeFromAST,
  type ValidationContext,
  visit,
} from 'graphql';
import { maxDocumentCharacters } from './trusted-documents.ts';

/* Limits of a document and its variables, besides the cost of its operations: text, comparisons, aliases, directives, values. */

/** Names, braces, strings and other tokens; and lines. */
export const maxTokens = 5_000;

/** Finds why a document would be too expensive to parse; null if it is not. Nested brackets cost the parser stack. */
export function findTextProblem(text: string): string | null {
  if (text.length > maxDocumentCharacters) {
    return `A document may have at most ${maxDocumentCharacters} characters; this one has ${text.length}.`;
  }
  if (text.length > maxTokens && countLines(text) > maxTokens) {
    return `A document may have at most ${maxTokens} lines.`;
  }
  return isNestedDeeper(text, maxNesting) ? `Brackets may be nested at most ${maxNesting} levels deep.` : null;
}

/** More than any tool writes; the parser's stack ends at about 2,000. */
const maxNesting = 200;

function countLines(text: string): number {
  return text.match(/\r\n|[\n\r]/g)?.length ?? 0;
}

function isNestedDeeper(text: string, levels: number): boolean {
  const lexer = new Lexer(new Source(text));
  let level = 0;
  try {
    // The parser reports more tokens, and text that is not a token, when it reaches them.
    for (let count = 0; count <= maxTokens; count += 1) {
      const { kind } = lexer.advance();
      if (kind === TokenKind.EOF) return false;
      if (openingBrackets.has(kind)) level += 1;
      if (closingBrackets.has(kind)) level -= 1;
      if (level > levels) return true;
    }
  } catch {
    return false;
  }
  return false;
}

const openingBrackets: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const closingBrackets: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/** Finds why a document would be too expensive to validate; null if it is not. */
export function findDocumentProblem(document: DocumentNode): string | null {
  return findDefinitionProblem(document) ?? findComparisonProblem(document);
}

/** GraphQL.js checks the fragments of each operation, and each variable in all of its places. */
function findDefinitionProblem({ definitions }: DocumentNode): string | null {
  const operations = definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  if (operations.length > maxOperations) {
    return `A document may have at most ${maxOperations} operations; this one has ${operations.length}.`;
  }
  const variables = operations.reduce((sum, node) => sum + (node.variableDefinitions?.length ?? 0), 0);
  if (variables <= maxVariables) return null;
  return `A document may define at most ${maxVariables} variables; this one has ${variables}.`;
}

/** They take about 6 ms. */
const maxOperations = 100;
const maxVariables = 250;

/**
 * Finds why comparing the fields of a document would be too expensive; null if it would not. GraphQL.js compares each pair of
 * fields that have the same response name in one place, with fragments expanded, their arguments, and the fields below both; and
 * each pair of fragments.
 */
function findComparisonProblem({ definitions }: DocumentNode): string | null {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of definitions) if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  const reached = new Set<string>();
  const counted = new Set<SelectionSetNode>();
  const fieldPairs = createPairs(weighField);
  const fragmentPairs = createPairs(() => comparisonsPerFragmentPair / 2);
  let comparisons = 0;
  const isTooMuch = (node: OperationDefinitionNode | FragmentDefinitionNode) => {
    compare({ selectionSet: node.selectionSet, within: [] });
    return comparisons > maxComparisons;
  };
  const operations = definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  const unused = () => [...fragments.values()].filter(({ name }) => !reached.has(name.value));
  if (!operations.some(isTooMuch) && !unused().some(isTooMuch)) return null;
  return (
    'The document selects the same fields, or fragments, too often in one place: checking whether they can be merged would take ' +
    `more than ${maxComparisons} comparisons. Select a field once, or with different aliases, or split the document.`
  );

  /** Counts the comparisons in a place of the response and in all below it. A loop: fragments may nest fields without limit. */
  function compare(root: Selected): void {
    const places = [[root]];
    for (let place = places.pop(); place !== undefined && comparisons <= maxComparisons; place = places.pop()) {
      const [only, ...others] = place;
      if (only !== undefined && others.length === 0) {
        if (counted.has(only.selectionSet)) continue;
        counted.add(only.selectionSet);
      }
      const fields = new Map<string, SelectedField[]>();
      const spreads = new Set<string>();
      for (const { selectionSet, within } of place)
        collect(selectionSet.selections, within, fields, spreads, new Set());
      comparisons += fragmentPairs.count([...spreads]);
      for (const found of fields.values()) {
        if (found.length > 1) comparisons += fieldPairs.count(found.map(({ node }) => node));
        const below = new Map(
          found.flatMap(({ node: { selectionSet }, within }) => (selectionSet ? [[selectionSet, within]] : [])),
        );
        if (below.size > 0) places.push([...below].map(([selectionSet, within]) => ({ selectionSet, within })));
      }
    }
  }

  /** Expands each fragment once per selection set, and never inside itself. */
  function collect(
    selections: readonly SelectionNode[],
    within: readonly string[],
    fields: Map<string, SelectedField[]>,
    spreads: Set<string>,
    expanded: Set<string>,
  ): void {
    comparisons += selections.length * comparisonsPerSelection;
    if (comparisons > maxComparisons) return;
    for (const node of selections) {
      if (node.kind === Kind.FIELD) {
        const name = (node.alias ?? node.name).value;
        const known = fields.get(name);
        if (known === undefined) fields.set(name, [{ node, within }]);
        else known.push({ node, within });
      } else if (node.kind === Kind.INLINE_FRAGMENT) {
        collect(node.selectionSet.selections, within, fields, spreads, expanded);
      } else {
        const name = node.name.value;
        if (expanded.has(name)) continue;
        expanded.add(name);
        spreads.add(name);
        const fragment = fragments.get(name);
        if (fragment === undefined || within.includes(name)) continue;
        reached.add(name);
        collect(fragment.selectionSet.selections, [...within, name], fields, spreads, expanded);
      }
    }
  }
}

/** What is selected in one place of the response, and the fragments through which it was found. */
interface Selected {
  selectionSet: SelectionSetNode;
  within: readonly string[];
}

interface SelectedField {
  node: FieldNode;
  within: readonly string[];
}

/** Counts what comparing all pairs of a list takes. GraphQL.js compares each pair once in a document. */
function createPairs<One>(weigh: (one: One) => number) {
  const known = new Map<One, Weighed>();
  const compared = new Set<number>();

  return {
    count(list: readonly One[]): number {
      const found = [...new Set(list)].map((one) => {
        const entry = known.get(one) ?? { id: known.size, weight: weigh(one) };
        known.set(one, entry);
        return entry;
      });
      let comparisons = ((found.length * (found.length - 1)) / 2) * comparisonsPerKnownPair;
      if (comparisons > maxComparisons) return comparisons;
      for (const [index, one] of found.entries()) {
        for (const other of found.slice(0, index)) comparisons += compare(one, other);
      }
      return comparisons;
    },
  };

  function compare(one: Weighed, other: Weighed): number {
    const pair = Math.min(one.id, other.id) * maxIds + Math.max(one.id, other.id);
    if (compared.has(pair)) return 0;
    compared.add(pair);
    return one.weight + other.weight;
  }
}

interface Weighed {
  id: number;
  weight: number;
}

/** More than a document has tokens. */
const maxIds = 2 ** 26;

/** Half of a comparison, and the arguments, which GraphQL.js prints and sorts. */
function weighField(field: FieldNode): number {
  let nodes = 0;
  const enter = () => {
    nodes += 1;
  };
  for (const argument of field.arguments ?? []) visit(argument, { enter });
  return 1 / 2 + nodes * comparisonsPerArgumentNode;
}

/** About 5 ms. One field can be selected 170 times in one place; with a field below it, 120 times. */
const maxComparisons = 20_000;
/** The measured time of other steps, in comparisons. */
const comparisonsPerFragmentPair = 2.5;
const comparisonsPerArgumentNode = 1 / 3;
const comparisonsPerSelection = 1;
const comparisonsPerKnownPair = 1 / 3;

/**
 * A validation rule: each directive can be an error of its own. Throws, so that these are not reported; the schema has two
 * directives for queries.
 */
export function limitDirectives(): ASTVisitor {
  return {
    enter(node) {
      if (!('directives' in node) || (node.directives?.length ?? 0) <= maxDirectives) return;
      const message = `A field, fragment or operation may have at most ${maxDirectives} directives.`;
      throw new GraphQLError(message, { nodes: node });
    },
  };
}

const maxDirectives = 5;

/**
 * A validation rule: an alias is repeated in the response for each entry of each list, and in the path of each error. Tools use few
 * aliases on introspection fields, and each enlarges the response.
 */
export function limitAliases(context: ValidationContext): ASTVisitor {
  let introspectionAliases = 0;
  let typenameAliases = 0;
  return {
    Field(node) {
      if (node.alias === undefined) return;
      if (context.getParentType()?.name.startsWith('__') || introspectionFields.includes(node.name.value)) {
        introspectionAliases += 1;
        if (introspectionAliases === maxAliases + 1)
          report(`Introspection may have at most ${maxAliases} aliases.`, node);
      } else if (node.name.value === '__typename') {
        typenameAliases += 1;
        const message = `__typename may have at most ${maxTypenameAliases} aliases.`;
        if (typenameAliases === maxTypenameAliases + 1) report(message, node);
      }
      if (node.alias.value.length <= maxAliasLength) return;
      report(`An alias must have at most ${maxAliasLength} characters.`, node);
    },
  };

  function report(message: string, node: FieldNode): void {
    context.reportError(new GraphQLError(message, { nodes: node }));
  }
}

const maxAliasLength = 100;
const maxAliases = 10;
/** Tools that merge queries need one for each. */
const maxTypenameAliases = 100;

/** The root fields of introspection; routers query `_service`. */
const introspectionFields = ['__schema', '__type', '_service'];

type Variables = Readonly<Record<string, unknown>>;

/** Finds what is wrong with a value; null if nothing is. */
type FindProblem = (value: unknown) => string | null;

/**
 * Finds why variables would be too expensive to coerce; null if they are not. Errors of GraphQL.js repeat invalid values with all
 * their fields, and each unknown field of an input object has one. Expects a valid operation.
 */
export function createVariableCheck(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
): (variables: Variables) => string | null {
  const checks = variableDefinitions.map(({ variable, type }) => {
    const inputType = typeFromAST(schema, type) as GraphQLInputType;
    return { name: variable.name.value, find: createCheck(inputType) };
  });
  return (variables) => {
    for (const { name, find } of checks) {
      const problem = Object.hasOwn(variables, name) ? find(variables[name]) : null;
      if (problem !== null) return `Variable "$${name}" has ${problem}.`;
    }
    return null;
  };
}

function createCheck(type: GraphQLInputType): FindProblem {
  if (isNonNullType(type)) return createCheck(type.ofType);
  if (isListType(type)) {
    const find = createCheck(type.ofType);
    return (value) => (Array.isArray(value) ? findFirst(value, find) : find(value));
  }
  if (isInputObjectType(type)) return createObjectCheck(type);
  // Any other scalar accepts whatever JSON it gets.
  if (isScalarType(type) && !isSpecifiedScalarType(type)) return () => null;
  const isText = type === GraphQLString || type.name === 'ID';
  return (value) => {
    if (typeof value === 'string') return isText ? null : findLongText(value, type.name);
    return typeof value === 'object' && value !== null ? `an object or a list where ${type.name} is expected` : null;
  };
}

function createObjectCheck(type: GraphQLInputObjectType): FindProblem {
  const names = Object.keys(type.getFields());
  const fields = new Map(Object.values(type.getFields()).map((field) => [field.name, createCheck(field.type)]));
  return (value) => {
    if (typeof value === 'string') return findLongText(value, type.name);
    if (typeof value !== 'object' || value === null) return null;
    if (Array.isArray(value)) return `a list where ${type.name} is expected`;
    const present = Object.keys(value);
    if (present.length > names.length) return `${present.length} fields; ${type.name} has only ${names.join(', ')}`;
    return findFirst(present, (name) => (fields.get(name) ?? checkUnknown)((value as Variables)[name]));
  };
}

function checkUnknown(value: unknown): string | null {
  if (typeof value === 'object' && value !== null) return 'an object or a list in an unknown field';
  return findLongText(value, 'no field');
}

function findFirst<Item>(items: readonly Item[], find: (item: Item) => string | null): string | null {
  for (const item of items) {
    const problem = find(item);
    if (problem !== null) return problem;
  }
  return null;
}

function findLongText(value: unknown, expected: string): string | null {
  if (typeof value !== 'string' || value.length <= maxTextLength) return null;
  return `a text of more than ${maxTextLength} characters where ${expected} is expected`;
}

/** More than any number, or name of an enum value; longer messages are cut off. */
const maxTextLength = 1_000;
