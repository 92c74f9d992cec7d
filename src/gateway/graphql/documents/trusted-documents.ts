import { hash } from 'node:crypto';
import { Kind, parse, print, type SelectionNode, visit } from 'graphql';
import { LRUCache } from 'lru-cache';
import * as z from 'zod';
import { createTimeSlices } from '../../../base/async/time-slices.ts';
import { ConfigError, messageOf } from '../../../base/errors.ts';
import { listFiles, readConfiguredJson, watchFiles } from '../../../base/variables/configured-files.ts';
import type { TrustedDocumentsConfig } from '../../config/read-config.ts';
import type { Events } from '../../telemetry/events.ts';

export type TrustedDocuments = ReturnType<typeof createTrustedDocuments>;

/** Longer documents are not executed. */
export const maxDocumentCharacters = 100_000;

interface TrustedDocumentsOptions extends TrustedDocumentsConfig {
  events: Pick<Events, 'fileReloaded' | 'fileInvalid'>;
}

/**
 * The documents in all manifests, which are read again when they change. Manifests that have become invalid leave the
 * last valid documents in use.
 * @throws ConfigError if they are invalid at the start
 */
export function createTrustedDocuments(options: TrustedDocumentsOptions) {
  const { paths, mode, events } = options;
  // Watched before they are read: no change is missed.
  const stopWatching = watchFiles(paths, () => void reload());
  let index = readAtStart();
  let reloads = 0;
  const listeners: (() => void)[] = [];
  /** Texts that are trusted, and not in a manifest. */
  const checked = new LRUCache<string, true>({ maxSize: 1_000_000, sizeCalculation: (_, text) => text.length + 100 });

  return {
    mode,
    /** The text of a document by its id in a manifest or its SHA-256 hash; null if there is none. */
    textOf: (id: string): string | null => index.byId.get(id) ?? null,
    texts: (): ReadonlySet<string> => index.texts,
    /** Whether a document is trusted, with or without the `__typename` fields that clients add. */
    has(text: string): boolean {
      if (index.texts.has(text) || checked.get(text)) return true;
      if (text.length > maxDocumentCharacters) return false;
      const normalized = normalizeDocument(text, index.maxNormalizedLength);
      if (normalized === null || !index.normalized.has(hash('sha256', normalized))) return false;
      checked.set(text, true);
      return true;
    },
    /** Adds a listener that is called when the documents have changed. */
    onReloaded: (listener: () => void) => void listeners.push(listener),
    /** Stops reading the files again. */
    close: stopWatching,
  };

  function readAtStart(): DocumentIndex {
    try {
      const entries = readManifests(options);
      const started = createIndex();
      for (const entry of entries) addToIndex(started, entry);
      return started;
    } catch (error) {
      stopWatching();
      throw new ConfigError([`TRUSTED_DOCUMENTS: ${messageOf(error)}; it must list manifests, or folders of them`]);
    }
  }

  /** Lets requests be answered meanwhile. */
  async function reload(): Promise<void> {
    reloads += 1;
    const reloadNumber = reloads;
    try {
      const entries = readManifests(options);
      const reloaded = createIndex();
      const inTimeSlice = createTimeSlices(maxSliceMs);
      for (const entry of entries) await inTimeSlice(() => addToIndex(reloaded, entry));
      if (reloadNumber !== reloads) return;
      index = reloaded;
      checked.clear();
      for (const listener of listeners) listener();
      events.fileReloaded('TRUSTED_DOCUMENTS', index.texts.size);
    } catch (error) {
      events.fileInvalid('TRUSTED_DOCUMENTS', messageOf(error));
    }
  }
}

const maxSliceMs = 10;

/** @throws Error with a problem for operators */
function readManifests({ paths, mode }: TrustedDocumentsConfig): ManifestEntry[] {
  const entries = listFiles(paths).flatMap(readManifest);
  if (entries.length === 0 && mode === 'require')
    throw new Error(`${paths.join(', ')} has no documents, so that all requests would be refused`);
  const characters = entries.reduce((sum, { text }) => sum + text.length, 0);
  if (characters > maxTotalCharacters)
    throw new Error(`the documents must have at most ${maxTotalCharacters} characters`);
  return entries;
}

const maxTotalCharacters = 10_000_000;

function readManifest(file: string): ManifestEntry[] {
  const entries = parseManifest(readConfiguredJson(file));
  if (entries === null) throw new Error(`${file} must be a manifest of Apollo, or texts by hash`);
  return entries;
}

/** A document that clients of the operator send, and its id in requests. */
interface ManifestEntry {
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
function parseManifest(json: unknown): ManifestEntry[] | null {
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

interface DocumentIndex {
  /** Texts by their id in a manifest, and by the SHA-256 hash of the text. */
  byId: Map<string, string>;
  texts: Set<string>;
  /** SHA-256 hashes of the normalized texts. */
  normalized: Set<string>;
  /** The length of the longest normalized text, and one more character. */
  maxNormalizedLength: number;
}

function createIndex(): DocumentIndex {
  return { byId: new Map(), texts: new Set(), normalized: new Set(), maxNormalizedLength: 0 };
}

/** @throws Error with a problem for operators */
function addToIndex(index: DocumentIndex, { id, text }: ManifestEntry): void {
  if ((index.byId.get(id) ?? text) !== text) throw new Error(`two documents have the id ${id}`);
  const normalized = normalizeDocument(text);
  if (normalized === null) throw new Error(`the document with the id ${id} is not valid GraphQL`);
  index.texts.add(text);
  index.byId.set(id, text);
  // Persisted queries are requested by this hash, whatever their id in the manifest.
  const textHash = hash('sha256', text);
  if (!index.byId.has(textHash)) index.byId.set(textHash, text);
  index.maxNormalizedLength = Math.max(index.maxNormalizedLength, normalized.length + 1);
  index.normalized.add(hash('sha256', normalized));
}

/**
 * A document in one layout, without comments and the `__typename` fields that client libraries add to it. Documents with the same
 * result request the same data. Null if the text is not valid GraphQL, or the result has `maxLength` characters or more.
 */
export function normalizeDocument(text: string, maxLength = Number.POSITIVE_INFINITY): string | null {
  try {
    // A selection set has at most one added field, so the tokens of a longer text are not even read.
    const document = parse(text, { noLocation: true, maxTokens: 2 * maxLength });
    const normalized = print(
      visit(document, {
        StringValue: (node) => ({ ...node, block: false }),
        SelectionSet(node) {
          const selections = node.selections.filter((selection) => !isAddedTypename(selection));
          // { __typename } alone was not added.
          return { ...node, selections: selections.length === 0 ? node.selections.slice(0, 1) : selections };
        },
      }),
    );
    return normalized.length < maxLength ? normalized : null;
  } catch {
    return null;
  }
}

function isAddedTypename(node: SelectionNode): boolean {
  return node.kind === Kind.FIELD && node.name.value === '__typename' && !node.alias && !node.directives?.length;
}
