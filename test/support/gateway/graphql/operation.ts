import { getOperationAST, Kind } from 'graphql';
import { parseDetached } from '../../../../src/gateway/graphql/documents/document-errors.ts';

/** The only operation of a document, as it is compiled and as its cost is computed. */
export function tOperation(query: string) {
  const document = parseDetached(query);
  const definition = getOperationAST(document);
  if (!definition) throw new Error('the document has no single operation');
  const fragments = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  return { document, definition, fragments: new Map(fragments.map((node) => [node.name.value, node])) };
}
