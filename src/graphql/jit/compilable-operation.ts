import {
  type DirectiveNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql';

export interface Operation {
  document: DocumentNode;
  definition: OperationDefinitionNode;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

export interface CompilableOperation {
  definition: OperationDefinitionNode;
  /** The operation and its fragments. */
  document: DocumentNode;
  /** Names of the variables that decide what is selected. */
  conditions: readonly string[];
  /** In the paths of all fields: the code takes about 100 bytes for each. */
  characters: number;
}

export function fragmentsOf({ definitions }: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> {
  const fragments = definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(fragments.map((node) => [node.name.value, node]));
}

/**
 * Finds what compiling an operation needs; null if it should not be compiled: mutations, of which graphql-jit executes the
 * next one after a failure, introspection, which is rare, operations whose code would be large, and the only name that is
 * not an ordinary property of the objects that graphql-jit creates.
 */
export function findCompilable({ document, definition, fragments }: Operation): CompilableOperation | null {
  const conditions = new Set<string>();
  const used = new Set<FragmentDefinitionNode>();
  let characters = 0;
  if (definition.operation !== OperationTypeNode.QUERY || !mayCompile(definition.selectionSet, 0)) return null;
  return {
    definition,
    document: { kind: Kind.DOCUMENT, definitions: [definition, ...used], ...(document.loc && { loc: document.loc }) },
    conditions: [...conditions],
    characters,
  };

  /** @param pathLength in characters: the code of each field contains its path several times */
  function mayCompile({ selections }: SelectionSetNode, pathLength: number): boolean {
    return selections.every((selection) => {
      selection.directives?.forEach(addCondition);
      if (selection.kind === Kind.INLINE_FRAGMENT) return mayCompile(selection.selectionSet, pathLength);
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = fragments.get(selection.name.value);
        if (fragment === undefined) return false;
        used.add(fragment);
        return mayCompile(fragment.selectionSet, pathLength);
      }
      const { name, alias = name, selectionSet } = selection;
      if (excludedNames.has(name.value) || excludedNames.has(alias.value)) return false;
      const fieldPathLength = pathLength + alias.value.length + charactersPerName;
      characters += fieldPathLength;
      return characters <= maxCharacters && (!selectionSet || mayCompile(selectionSet, fieldPathLength));
    });
  }

  function addCondition({ arguments: [condition] = [] }: DirectiveNode): void {
    if (condition?.value.kind === Kind.VARIABLE) conditions.add(condition.value.name.value);
  }
}

const excludedNames = new Set(['__proto__', '__schema', '__type', '_service']);

/** These take 30 ms to compile. */
const maxCharacters = 20_000;
/** Added to the length of each name. */
const charactersPerName = 20;
