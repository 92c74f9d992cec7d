import { hash } from 'node:crypto';
import { ConfigError, messageOf } from '../../base/errors.ts';
import { readConfiguredJson, watchFiles } from '../../base/variables/configured-files.ts';
import type { AccessConfig } from '../config/access-config.ts';
import { type ApiKeyEntry, apiKeyDocument } from '../config/callers.ts';
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
  // Watched before it is read: no change is missed.
  const stopWatching = apiKeysFile === null ? () => {} : watchFiles([apiKeysFile], reload);
  let callers: ReadonlyMap<string, Caller>;
  try {
    callers = toCallers(readEntries());
  } catch (error) {
    stopWatching();
    throw new ConfigError([`GATEWAY_API_KEYS_FILE: ${messageOf(error)}; it must be a JSON file { "keys": [...] }`]);
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

  function readEntries(): readonly ApiKeyEntry[] {
    return apiKeysFile === null ? [] : readApiKeysFile(apiKeysFile);
  }

  function reload(): void {
    try {
      const entries = readEntries();
      callers = toCallers(entries);
      events.apiKeysReloaded(entries.length);
    } catch (error) {
      events.apiKeysFileInvalid(messageOf(error));
    }
  }

  function toCallers(entries: readonly ApiKeyEntry[]): ReadonlyMap<string, Caller> {
    return new Map(
      [...entries, ...apiKeys].map(({ name, sha256, scopes, limits }) => [
        sha256,
        createCaller({ kind: 'api-key', name, scopes, limits }),
      ]),
    );
  }
}

/** @throws Error that says what is wrong, without the content of the file */
function readApiKeysFile(file: string): ApiKeyEntry[] {
  const { success, data, error } = apiKeyDocument.safeParse(readConfiguredJson(file, 'the file'));
  if (success) return data;
  throw new Error(error.issues.map(({ path, message }) => [...path, message].join(': ')).join('; '));
}
