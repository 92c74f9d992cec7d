import { createHash } from 'node:crypto';
import { parse } from 'graphql';
import type { ManifestEntry } from './manifest.ts';
import { normalizeDocument } from './normalize-document.ts';

export interface DocumentIndex {
  /** Texts by their id in a manifest, and by the SHA-256 hash of the text. */
  byId: ReadonlyMap<string, string>;
  texts: ReadonlySet<string>;
  /** SHA-256 hashes of the normalized texts. */
  normalized: ReadonlySet<string>;
  /** Of the longest normalized text. */
  maxNormalizedLength: number;
}

/**
 * Indexes the documents one after the other, so that the caller can do other work between them.
 * @throws Error with a problem for operators
 */
export function* indexDocuments(entries: readonly ManifestEntry[]): Generator<void, DocumentIndex> {
  const characters = entries.reduce((sum, { text }) => sum + text.length, 0);
  if (characters > maxCharacters) throw new Error(`the documents must have at most ${maxCharacters} characters`);
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

export function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const maxCharacters = 10_000_000;

function normalizeText(id: string, text: string): string {
  try {
    parse(text, { noLocation: true });
    return normalizeDocument(text) ?? '';
  } catch {
    throw new Error(`the document with the id ${id} is not valid GraphQL`);
  }
}
