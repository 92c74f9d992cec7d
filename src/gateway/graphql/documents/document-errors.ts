import {
  type DocumentNode,
  GraphQLError,
  type GraphQLErrorExtensions,
  type ParseOptions,
  parse,
  Source,
  type SourceLocation,
} from 'graphql';

/**
 * Parses a document and empties its source: each GraphQLError counts the lines of the source up to its place when it is
 * created, and execution may create thousands. `locate` finds the places of the errors in the response.
 * @throws GraphQLError
 */
export function parseDetached(text: string, options: ParseOptions = {}): DocumentNode {
  const source = new Source(text);
  const document = parse(source, options);
  source.body = '';
  return document;
}

/** The first places of an error in its document. */
export function locate({ nodes, locations }: GraphQLError): readonly SourceLocation[] | undefined {
  const places = nodes?.slice(0, maxLocations).flatMap(({ loc }) => (loc ? [loc.startToken] : [])) ?? [];
  if (places.length === 0) return locations?.slice(0, maxLocations);
  return places.map(({ line, column }) => ({ line, column }));
}

/** Conflicting fields are all places of one error, and a field that is selected a thousand times has as many. */
const maxLocations = 10;

/** The most errors in one response: more than those of a thousand IBANs with all fields that need the service. */
export const maxErrors = 10_000;

/** An error of a request that is not executed. @param http the status, and headers, as in Yoga */
export function createRequestError(
  message: string,
  code: string,
  { http = { status: 400 }, ...extensions }: GraphQLErrorExtensions = {},
): GraphQLError {
  return new GraphQLError(message, { extensions: { code, http, ...extensions } });
}
