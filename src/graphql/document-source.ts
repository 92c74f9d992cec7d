import { type DocumentNode, type GraphQLError, Source } from 'graphql';

/** The source of a parsed document. It is empty for GraphQL, and `original` is the text. */
class DocumentSource extends Source {
  readonly original: Source;

  constructor(text: string) {
    super(text);
    this.original = new Source(text);
  }
}

/**
 * Each GraphQLError counts the lines up to its location when it is created, and execution may create thousands. So the
 * source of a document is emptied once it is parsed, and `locate` restores it for the errors of the response.
 */
export function parseDetached(text: string, parse: (source: Source) => DocumentNode): DocumentNode {
  const source = new DocumentSource(text);
  const document = parse(source);
  source.body = '';
  return document;
}

/** The first locations of an error, as options of a GraphQLError. */
export function locate({ source, positions }: GraphQLError) {
  return {
    source: source instanceof DocumentSource ? source.original : (source ?? null),
    positions: positions?.slice(0, maxLocations) ?? null,
  };
}

/** Conflicting fields are all locations of one error. */
const maxLocations = 10;
