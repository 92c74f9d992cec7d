import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type * as z from 'zod';
import { ConfigError, messageOf } from '../../base/errors.ts';
import { readConfiguredJson, watchFiles } from '../../base/variables/configured-files.ts';
import type { AccessConfig } from '../config/access-config.ts';
import { type ApiKeyEntry, apiKeyDocument, type BlockedCallers } from '../config/callers.ts';
import type { Events } from '../telemetry/events.ts';
import type { Caller, CreateCaller } from './caller.ts';

interface ApiKeysOptions extends Pick<AccessConfig, 'apiKeys' | 'apiKeysFile' | 'jwt'> {
  createCaller: CreateCaller;
  events: Pick<Events, 'fileReloaded' | 'fileInvalid' | 'callersBlocked'>;
}

/**
 * The configured API keys, and those in the file, which is read again when it changes, with the callers whose tokens are blocked. A
 * file that has become invalid leaves the last valid keys and blocks in use.
 * @throws ConfigError if the file is invalid at the start
 */
export function createApiKeys({ apiKeys, apiKeysFile, jwt, createCaller, events }: ApiKeysOptions) {
  // Watched before it is read: no change is missed.
  const stopWatching = apiKeysFile === null ? () => {} : watchFiles([apiKeysFile], reload);
  let callers: ReadonlyMap<string, Caller>;
  let blocked: BlockedCallers = { subjects: [], issuers: [] };
  let blockedIds: ReadonlySet<string> = new Set();
  try {
    use(readFile());
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
    /** Whether the tokens of a caller are refused. */
    isBlocked: (callerId: string): boolean =>
      blockedIds.size > 0 && callerId.startsWith('jwt:') && (blockedIds.has(callerId) || blockedIds.has(allTokens)),
    /** Reads the file again, if there is one. */
    reload: () => apiKeysFile !== null && reload(),
    /** Stops reading the file again. */
    close: stopWatching,
  };

  function readFile(): ApiKeysFile {
    return apiKeysFile === null ? { keys: [], blocked } : readApiKeysFile(apiKeysFile);
  }

  function reload(): void {
    try {
      const file = readFile();
      use(file);
      events.fileReloaded('GATEWAY_API_KEYS_FILE', file.keys.length);
    } catch (error) {
      events.fileInvalid('GATEWAY_API_KEYS_FILE', messageOf(error));
    }
  }

  function use(file: ApiKeysFile): void {
    callers = toCallers(file.keys);
    const isChanged = JSON.stringify(file.blocked) !== JSON.stringify(blocked);
    blocked = file.blocked;
    const blockedCallers = blocked.subjects.map((name) => createCaller({ kind: 'jwt', name, scopes: [] }));
    const isIssuerBlocked = jwt !== null && blocked.issuers.includes(jwt.issuer);
    blockedIds = new Set([...blockedCallers.map(({ id }) => id), ...(isIssuerBlocked ? [allTokens] : [])]);
    // Subjects may be personal data: their names are hashes, as in the log.
    const issuers = blocked.issuers.map((issuer) => `issuer:${issuer}`);
    if (isChanged) events.callersBlocked([...blockedCallers.map(({ name }) => name), ...issuers]);
  }

  /** @throws Error if two keys of a caller have other limits: what both have used is one count */
  function toCallers(entries: readonly ApiKeyEntry[]): ReadonlyMap<string, Caller> {
    const limitsOf = new Map<string, Caller['limits']>();
    return new Map(
      [...entries, ...apiKeys].map(({ name, sha256, scopes, limits }) => {
        const caller = createCaller({ kind: 'api-key', name, scopes, limits });
        if (!isDeepStrictEqual(limitsOf.get(name) ?? caller.limits, caller.limits))
          throw new Error(`keys: the keys of ${name} must have the same limits`);
        limitsOf.set(name, caller.limits);
        return [sha256, caller];
      }),
    );
  }
}

/** The caller has another name, because that of a token is never empty. */
const allTokens = 'jwt:';

type ApiKeysFile = z.infer<typeof apiKeyDocument>;

/** @throws Error that says what is wrong, without the content of the file */
function readApiKeysFile(file: string): ApiKeysFile {
  const { success, data, error } = apiKeyDocument.safeParse(readConfiguredJson(file, 'the file'));
  if (success) return data;
  throw new Error(error.issues.map(({ path, message }) => [...path, message].join(': ')).join('; '));
}
