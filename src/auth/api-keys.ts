import { hash } from 'node:crypto';
import type { AccessConfig } from '../config/access-config.ts';
import { type ApiKeyEntry, apiKeyDocument } from '../config/callers.ts';
import { readConfiguredFile, watchFiles } from '../config/configured-files.ts';
import { ConfigError, errorCodeOf } from '../errors.ts';
import type { Events } from '../telemetry/events.ts';
import type { Caller, CreateCaller } from './caller.ts';

interface ApiKeysOptions extends Pick<AccessConfig, 'apiKeys' | 'apiKeysFile'> {
  createCaller: CreateCaller;
  events: Pick<Events, 'apiKeysReloaded' | 'apiKeysFileInvalid'>;
}

/**
 * The configured API keys, and those in the file, which is read again when it changes. A file that has become invalid
 * leaves the last valid keys in use.
 * @throws ConfigError if the file is invalid at the start
 */
export function createApiKeys({ apiKeys, apiKeysFile, createCaller, events }: ApiKeysOptions) {
  let callers = toCallers(apiKeys);
  let stopWatching = () => {};
  if (apiKeysFile !== null) {
    // Watched before it is read: no change is missed.
    stopWatching = watchFiles([apiKeysFile], () => reload(apiKeysFile));
    const entries = readApiKeysFile(apiKeysFile);
    if (typeof entries === 'string') {
      stopWatching();
      throw new ConfigError([`GATEWAY_API_KEYS_FILE: ${entries}; it must be a JSON file { "keys": [...] }`]);
    }
    callers = toCallers([...entries, ...apiKeys]);
  }

  return {
    /**
     * The caller with this key; null if there is none.
     *
     * The look-up by hash need not take constant time. Its duration depends on the hash of the presented key, and
     * someone who guesses keys cannot choose their hashes: to learn that the first bits of a hash are right brings them
     * no closer to a key. A comparison of the keys themselves would show how many characters are right.
     */
    find: (key: string): Caller | null => callers.get(hash('sha256', key)) ?? null,
    /** The callers of all keys, in their order. */
    callers: () => [...callers.values()],
    /** Stops reading the file again. */
    close: stopWatching,
  };

  function reload(file: string): void {
    const entries = readApiKeysFile(file);
    if (typeof entries === 'string') {
      events.apiKeysFileInvalid(entries);
      return;
    }
    callers = toCallers([...entries, ...apiKeys]);
    events.apiKeysReloaded(entries.length);
  }

  function toCallers(entries: readonly ApiKeyEntry[]): ReadonlyMap<string, Caller> {
    return new Map(
      entries.map(({ name, sha256, scopes, limits }) => [
        sha256,
        createCaller({ kind: 'api-key', name, scopes, limits }),
      ]),
    );
  }
}

/** The keys in the file, or what is wrong with it, without its content. */
function readApiKeysFile(file: string): ApiKeyEntry[] | string {
  let document: unknown;
  try {
    document = JSON.parse(readConfiguredFile(file));
  } catch (error) {
    // The message of a syntax error repeats the text.
    return error instanceof SyntaxError
      ? 'the file is not valid JSON'
      : `the file cannot be read (${errorCodeOf(error)})`;
  }
  const { success, data, error } = apiKeyDocument.safeParse(document);
  return success ? data : error.issues.map(({ path, message }) => [...path, message].join(': ')).join('; ');
}
