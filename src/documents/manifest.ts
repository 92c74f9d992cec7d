import * as z from 'zod';

/** A document that clients of the operator send, and its id in requests. */
export interface ManifestEntry {
  id: string;
  text: string;
}

/**
 * Reads a manifest, whose format is recognized by its content: Apollo's persisted-query manifest, or texts by hash, as
 * Relay and GraphQL Code Generator write them. Null if it is neither.
 * https://www.apollographql.com/docs/graphos/platform/security/persisted-queries#manifest-format
 * https://relay.dev/docs/guides/persisted-queries/#local-persisted-queries
 * https://the-guild.dev/graphql/codegen/plugins/presets/preset-client#persisted-documents
 */
export function parseManifest(json: unknown): ManifestEntry[] | null {
  const apollo = apolloManifest.safeParse(json);
  if (apollo.success) return apollo.data.operations.map(({ id, body }) => ({ id, text: body }));
  const texts = textsByHash.safeParse(json);
  return texts.success ? Object.entries(texts.data).map(([id, text]) => ({ id, text })) : null;
}

const apolloManifest = z.object({
  format: z.literal('apollo-persisted-query-manifest'),
  version: z.literal(1),
  operations: z.array(z.object({ id: z.string(), body: z.string() })),
});

const textsByHash = z.record(z.string(), z.string());
