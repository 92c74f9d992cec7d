import { GraphQLError, getLocation, Kind, Source } from 'graphql';
import { expect, it } from 'vitest';
import { locate, parseDetached } from '../../../../src/gateway/graphql/documents/document-errors.ts';

it.each(['{ a b }', '{\n  a\n  b }', '\n\n{ a\r\n,b\r\n}', '{ a\rb\n\r}', `# comment\n{ a(x: """\n\n""")\n\tb }`])(
  'locates the nodes of a detached document as GraphQL.js does: %j',
  (text) => {
    const document = parseDetached(text);
    const [operation] = document.definitions;
    if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('the document has no operation');
    for (const node of operation.selectionSet.selections) {
      const error = new GraphQLError('seeded', { nodes: node });
      expect(locate(error)).toEqual([getLocation(new Source(text), node.loc?.start ?? -1)]);
    }
  },
);
