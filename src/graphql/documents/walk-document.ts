import { type ASTNode, type ASTVisitFn, type DocumentNode, Kind, type TypeInfo } from 'graphql';

export interface NodeVisitor {
  /** @returns false if the descendants of the node and its end are not visited */
  enter: ASTVisitFn<ASTNode>;
  leave: ASTVisitFn<ASTNode>;
}

/**
 * Visits the nodes of an executable document, or of a part of it, with the arguments and in the order of GraphQL.js's `visit`
 * and `visitWithTypeInfo`, which can also replace nodes: for that, they create dozens of objects for each document, and
 * several for each node. Names are not visited: they are a third of all nodes, and no rule needs them.
 */
export function walkDocument(root: ASTNode, typeInfo: TypeInfo, visitor: NodeVisitor): void {
  const path: (string | number)[] = [];
  const ancestors: (ASTNode | readonly ASTNode[])[] = [];
  walk(root, undefined, undefined);

  function walk(
    node: ASTNode,
    key: string | number | undefined,
    parent: ASTNode | readonly ASTNode[] | undefined,
  ): void {
    typeInfo.enter(node);
    if (visitor.enter(node, key, parent, path, ancestors) !== false) {
      if (parent !== undefined) ancestors.push(parent);
      for (const childKey of keysByKind.get(node.kind) ?? []) walkChild(node, childKey);
      if (parent !== undefined) ancestors.pop();
      visitor.leave(node, key, parent, path, ancestors);
    }
    typeInfo.leave(node);
  }

  function walkChild(node: ASTNode, key: string): void {
    const child = (node as unknown as Record<string, ASTNode | readonly ASTNode[] | undefined>)[key];
    if (child === undefined) return;
    path.push(key);
    if (isList(child)) {
      ancestors.push(node);
      let index = 0;
      for (const item of child) {
        path.push(index);
        walk(item, index, child);
        path.pop();
        index += 1;
      }
      ancestors.pop();
    } else walk(child, key, node);
    path.pop();
  }
}

/** Whether a document has nothing but operations and fragments, as valid ones have. */
export function isExecutable({ definitions }: DocumentNode): boolean {
  return definitions.every(({ kind }) => kind === Kind.OPERATION_DEFINITION || kind === Kind.FRAGMENT_DEFINITION);
}

function isList(child: ASTNode | readonly ASTNode[]): child is readonly ASTNode[] {
  return Array.isArray(child);
}

/** Where nodes have other nodes than names, in their order. The kinds that are missing have none. */
const keysByKind: ReadonlyMap<ASTNode['kind'], readonly string[]> = new Map([
  [Kind.DOCUMENT, ['definitions']],
  [Kind.OPERATION_DEFINITION, ['variableDefinitions', 'directives', 'selectionSet']],
  [Kind.VARIABLE_DEFINITION, ['variable', 'type', 'defaultValue', 'directives']],
  [Kind.SELECTION_SET, ['selections']],
  [Kind.FIELD, ['arguments', 'directives', 'selectionSet']],
  [Kind.ARGUMENT, ['value']],
  [Kind.FRAGMENT_SPREAD, ['directives']],
  [Kind.INLINE_FRAGMENT, ['typeCondition', 'directives', 'selectionSet']],
  [Kind.FRAGMENT_DEFINITION, ['variableDefinitions', 'typeCondition', 'directives', 'selectionSet']],
  [Kind.LIST, ['values']],
  [Kind.OBJECT, ['fields']],
  [Kind.OBJECT_FIELD, ['value']],
  [Kind.DIRECTIVE, ['arguments']],
  [Kind.LIST_TYPE, ['type']],
  [Kind.NON_NULL_TYPE, ['type']],
]);
