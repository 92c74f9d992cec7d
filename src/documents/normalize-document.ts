import { type DocumentNode, Kind, print, type SelectionNode, visit } from 'graphql';

/**
 * The text of a document without layout, comments, and the `__typename` fields that client libraries add to it. Documents
 * with the same text request the same data.
 */
export function normalizeDocument(document: DocumentNode): string {
  const stripped = visit(document, {
    SelectionSet(node) {
      const selections = node.selections.filter((selection) => !isAddedTypename(selection));
      // { __typename } alone was not added.
      return selections.length === 0 || selections.length === node.selections.length
        ? undefined
        : { ...node, selections };
    },
  });
  return print(stripped);
}

function isAddedTypename(selection: SelectionNode): boolean {
  if (selection.kind !== Kind.FIELD || selection.name.value !== '__typename') return false;
  return selection.alias === undefined && !selection.directives?.length && !selection.arguments?.length;
}
