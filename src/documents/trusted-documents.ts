import { readFileSync } from 'node:fs';
import { LRUCache } from 'lru-cache';
import type { TrustedDocumentsConfig } from '../config/gateway-config.ts';
import { listFiles, watchFiles } from '../config/watched-files.ts';
import { ConfigError, errorCodeOf } from '../errors.ts';
import type { Events } from '../telemetry/events.ts';
import { type DocumentIndex, hashText, indexDocuments } from './document-index.ts';
import { type ManifestEntry, parseManifest } from './manifest.ts';
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

interface TrustedDocumentsOptions {
  config: TrustedDocumentsConfig;
  /** Maximum length of a document, in characters. */
  maxCharacters: number;
  events: Pick<Events, 'trustedDocumentsReloaded' | 'trustedDocumentsInvalid'>;
}

/**
 * The documents in all manifests, which are read again when they change. Manifests that have become invalid leave the
 * last valid documents in use.
 * @throws ConfigError if they are invalid at the start
 */
export function createTrustedDocuments({ config, maxCharacters, events }: TrustedDocumentsOptions): TrustedDocuments {
  const { paths, mode } = config;
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
      const steps = indexDocuments(readManifests(paths));
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
      const reloaded = await runInSlices(indexDocuments(readManifests(paths)));
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

function readManifests(paths: readonly string[]): ManifestEntry[] {
  return listFiles(paths).flatMap((file) => {
    const entries = parseManifest(JSON.parse(readFileSync(file, 'utf8')));
    if (entries === null) throw new Error(`${file} must be a manifest of Apollo, or texts by hash`);
    return entries;
  });
}

/** What is wrong, for operators. */
function reasonOf(error: unknown): string {
  const code = errorCodeOf(error);
  if (error instanceof SyntaxError) return 'a file is not valid JSON';
  return code === null ? String(error instanceof Error ? error.message : error) : `a file cannot be read (${code})`;
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
