import { type DocumentNode, type GraphQLError, Source, type SourceLocation } from 'graphql';

/** The source of a parsed document. It is empty for GraphQL, and `original` is the text. */
class DocumentSource extends Source {
  readonly original: Source;
  #lineStarts: number[] | undefined;

  constructor(text: string) {
    super(text);
    this.original = new Source(text);
  }

  /** As `getLocation` of GraphQL.js, which counts all lines before a position each time. */
  locate(position: number): SourceLocation {
    this.#lineStarts ??= findLineStarts(this.original.body);
    const line = this.#lineStarts.findLastIndex((start) => start <= position);
    return { line: line + 1, column: position - (this.#lineStarts[line] ?? 0) + 1 };
  }
}

function findLineStarts(text: string): number[] {
  return [0, ...Array.from(text.matchAll(/\r\n|[\n\r]/g), ({ 0: end, index }) => index + end.length)];
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

/** Restores the source while a function computes locations once, instead of for each error. */
export function withAttachedSource<Result>({ loc }: DocumentNode, run: () => Result): Result {
  const source = loc?.source;
  if (!(source instanceof DocumentSource)) return run();
  source.body = source.original.body;
  try {
    return run();
  } finally {
    source.body = '';
  }
}

/** The first locations of an error. */
export function locate({ source, positions, locations }: GraphQLError): readonly SourceLocation[] | undefined {
  if (!(source instanceof DocumentSource)) return locations?.slice(0, maxLocations);
  return positions?.slice(0, maxLocations).map((position) => source.locate(position));
}

/** Conflicting fields are all locations of one error. */
const maxLocations = 10;
