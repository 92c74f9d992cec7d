import Negotiator from 'negotiator';

/** In our order of preference. Streams are not supported. */
const mediaTypes = ['application/json', 'application/graphql-response+json'] as const;
export type MediaType = (typeof mediaTypes)[number];

/** Also as clients that copy a Content-Type header write them. */
const offered = [...mediaTypes, ...mediaTypes.map((type) => `${type}; charset=utf-8`)];

/** The type that an Accept header prefers; null if it allows none. Yoga ignores quality values. */
export function chooseMediaType(accept: string | undefined): MediaType | null {
  if (!accept || accept === '*/*' || accept === mediaTypes[0]) return mediaTypes[0];
  const chosen = new Negotiator({ headers: { accept } }).mediaType(offered)?.replace(/;.*/, '');
  return mediaTypes.find((type) => type === chosen) ?? null;
}

/** Whether the client prefers a page to JSON, as browsers do for an address that a user opens. */
export function prefersHtml(accept: string | undefined): boolean {
  if (!accept?.includes('text/html')) return false;
  return new Negotiator({ headers: { accept } }).mediaType([...offered, 'text/html']) === 'text/html';
}
