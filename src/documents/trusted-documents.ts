import { createHash } from 'node:crypto';
import { parse } from 'graphql';
import { LRUCache } from 'lru-cache';
import * as z from 'zod';
import { listFiles, readConfiguredFile, watchFiles } from '../config/configured-files.ts';
import type { TrustedDocumentsConfig } from '../config/read-config.ts';
import { ConfigError, errorCodeOf } from '../errors.ts';
import type { Events } from '../telemetry/events.ts';
import { normalizeDocument } from './normalize-document.ts';

export interface TrustedDocuments {
  mode: TrustedDocumentsConfig['mode'];
  /** The text of a document by its id in a manifest or its SHA-256 hash; null if there is none. */
  textOf(id: string): string | null;
  /** Whether a document is trusted, with or without the `__typename` fields that clients add. Does not parse it. */
  has(text: string): boolean;
  /** Adds a listener that is called when the documents have changed. */
  onReloaded(listener: () => void): void;
  /** Stops reading the files again. */
  close(): void;
}

interface TrustedDocumentsOptions extends TrustedDocumentsConfig {
  events: Pick<Events, 'trustedDocumentsReloaded' | 'trustedDocumentsInvalid'>;
}

/**
 * The documents in all manifests, which are read again when they change. Manifests that have become invalid leave the
 * last valid documents in use.
 * @throws ConfigError if they are invalid at the start
 */
export function createTrustedDocuments(options: TrustedDocumentsOptions): TrustedDocuments {
  const { paths, mode, maxCharacters, events } = options;
  // Watched before they are read: no change is missed.
  const stopWatching = watchFiles(paths, () => void reload());
  let index = readAtStart();
  let reloads = 0;
  const listeners: (() => void)[] = [];
  /** Texts that are trusted, and not in a manifest. */
  const checked = new LRUCache<string, true>({ maxSize: 1_000_000, sizeCalculation: (_, text) => text.length + 100 });

  return {
    mode,
    textOf: (id) => index.byId.get(id) ?? null,
    has(text) {
      if (index.texts.has(text) || checked.get(text)) return true;
      if (text.length > maxCharacters) return false;
      const normalized = normalizeDocument(text, index.maxNormalizedLength);
      if (normalized === null || !index.normalized.has(hashText(normalized))) return false;
      checked.set(text, true);
      return true;
    },
    onReloaded: (listener) => void listeners.push(listener),
    close: stopWatching,
  };

  function readAtStart(): DocumentIndex {
    try {
      const steps = indexDocuments(readManifests(options));
      for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
    } catch (error) {
      stopWatching();
      throw new ConfigError([`TRUSTED_DOCUMENTS: ${reasonOf(error)}; it must list manifests, or folders of them`]);
    }
  }

  async function reload(): Promise<void> {
    reloads += 1;
    const reloadNumber = reloads;
    try {
      const reloaded = await runInSlices(indexDocuments(readManifests(options)));
      if (reloadNumber !== reloads) return;
      index = reloaded;
      checked.clear();
      for (const listener of listeners) listener();
      events.trustedDocumentsReloaded(index.texts.size);
    } catch (error) {
      events.trustedDocumentsInvalid(reasonOf(error));
    }
  }
}

/** @throws Error with a problem for operators */
function readManifests({ paths, mode }: TrustedDocumentsConfig): ManifestEntry[] {
  const entries = listFiles(paths).flatMap(readManifest);
  if (entries.length > 0 || mode !== 'require') return entries;
  throw new Error(`${paths.join(', ')} has no documents, so that all requests would be refused`);
}

function readManifest(file: string): ManifestEntry[] {
  let manifest: unknown;
  try {
    manifest = JSON.parse(readConfiguredFile(file));
  } catch (error) {
    const problem = error instanceof SyntaxError ? 'is not valid JSON' : `cannot be read (${errorCodeOf(error)})`;
    throw new Error(`${file} ${problem}`);
  }
  const entries = parseManifest(manifest);
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
  byId: ReadonlyMap<string, string>;
  texts: ReadonlySet<string>;
  /** SHA-256 hashes of the normalized texts. */
  normalized: ReadonlySet<string>;
  /** The length of the longest normalized text, and one more character. */
  maxNormalizedLength: number;
}

/**
 * Indexes the documents one by one, so that the caller can do other work between them.
 * @throws Error with a problem for operators
 */
function* indexDocuments(entries: readonly ManifestEntry[]): Generator<void, DocumentIndex> {
  const characters = entries.reduce((sum, { text }) => sum + text.length, 0);
  if (characters > maxTotalCharacters)
    throw new Error(`the documents must have at most ${maxTotalCharacters} characters`);
  const byId = new Map<string, string>();
  const normalized = new Set<string>();
  let maxNormalizedLength = 0;
  const texts = new Set(entries.map(({ text }) => text));
  for (const { id, text } of entries) {
    if ((byId.get(id) ?? text) !== text) throw new Error(`two documents have the id ${id}`);
    byId.set(id, text);
    // Persisted queries are requested by this hash, whatever their id in the manifest.
    const hash = hashText(text);
    if (!byId.has(hash)) byId.set(hash, text);
    const normalizedText = normalizeText(id, text);
    maxNormalizedLength = Math.max(maxNormalizedLength, normalizedText.length + 1);
    normalized.add(hashText(normalizedText));
    yield;
  }
  return { byId, texts, normalized, maxNormalizedLength };
}

const maxTotalCharacters = 10_000_000;

function normalizeText(id: string, text: string): string {
  try {
    parse(text, { noLocation: true });
    return normalizeDocument(text) ?? '';
  } catch {
    throw new Error(`the document with the id ${id} is not valid GraphQL`);
  }
}

/** The SHA-256 hash of a text, in hexadecimal. */
export function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Lets requests be answered in between. */
async function runInSlices<Result>(steps: Generator<void, Result>): Promise<Result> {
  let sliceStart = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - sliceStart < maxSliceMs) continue;
    await new Promise((resolve) => setImmediate(resolve));
    sliceStart = performance.now();
  }
}

const maxSliceMs = 10;

/** What is wrong, for operators. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
