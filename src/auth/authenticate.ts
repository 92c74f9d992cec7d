import { LRUCache } from 'lru-cache';
import { type AccessConfig, hasCallers } from '../config/access-config.ts';
import type { Events } from '../telemetry/events.ts';
import { createApiKeys } from './api-keys.ts';
import { type Caller, createCallerFactory } from './caller.ts';
import { readCredential } from './credential.ts';
import { createTokenVerification } from './jwt.ts';
import { invalidCredentials, missingCredentials, type Refusal } from './refusal.ts';
import { type SignedParams, verifySignature } from './router-signature.ts';

/** A request without credentials in its headers; its body may be signed. */
export interface Unsigned {
  kind: 'unsigned';
}

export interface Authentication {
  /**
   * Finds the caller by the headers of a request, before its body is read. A promise only for a token that was not used
   * in the last minute.
   * @param rawHeaders names and values in turn, as in `IncomingMessage.rawHeaders`: only there are repeated headers visible
   */
  authenticate(rawHeaders: readonly string[]): Caller | Refusal | Unsigned | Promise<Caller | Refusal>;
  /** Finds the caller of an unsigned request by its body. */
  authenticateBody(params: SignedParams): Caller | Refusal;
  close(): Promise<void>;
}

interface AuthenticationOptions {
  access: AccessConfig;
  /** Hashes the names of callers in tokens; null: a new one. */
  nameSecret?: string | null;
  events: Pick<Events, 'apiKeysReloaded' | 'apiKeysFileInvalid' | 'keySetUnavailable'>;
}

/** @throws ConfigError if the file with API keys is invalid */
export function createAuthentication({ access, nameSecret = null, events }: AuthenticationOptions): Authentication {
  const createCaller = createCallerFactory({ ...access, ...(nameSecret !== null && { nameSecret }) });
  const { apiKeys, apiKeysFile, jwt, router, anonymousScopes } = access;
  const anonymous = anonymousScopes && createCaller({ kind: 'anonymous', name: '', scopes: anonymousScopes });
  const routerCaller = router && createCaller({ kind: 'router', name: '', scopes: router.scopes });
  const withoutCredentials = routerCaller ? unsigned : (anonymous ?? missingCredentials);
  /**
   * Callers by their keys. A look-up in a map compares hashes that are seeded per process, and texts only if these are
   * equal, so its duration shows nothing about other credentials. Refused ones are not cached.
   */
  const knownKeys = new Map<string, Caller>();
  const knownTokens = new LRUCache<string, { caller: Caller; expiresAt: number }>({
    max: 10_000,
    maxSize: 2_000_000,
    sizeCalculation: (_, token) => token.length,
  });
  const keys = createApiKeys({ apiKeys, apiKeysFile, createCaller, onReloaded: () => knownKeys.clear(), events });
  const tokens = jwt && createTokenVerification({ jwt, createCaller, events });

  return {
    authenticate: hasCallers(access) ? authenticate : () => anonymous ?? missingCredentials,
    authenticateBody(params) {
      const check = router ? verifySignature(router.secret, params) : 'missing';
      if (check === 'valid' && routerCaller) return routerCaller;
      return check === 'missing' ? (anonymous ?? missingCredentials) : invalidCredentials;
    },
    async close() {
      keys.close();
      await tokens?.close();
    },
  };

  function authenticate(rawHeaders: readonly string[]) {
    const credential = readCredential(rawHeaders);
    if (credential === null) return withoutCredentials;
    if (credential === 'invalid') return invalidCredentials;
    const { value } = credential;
    const known = knownKeys.get(value);
    if (known) return known;
    const token = knownTokens.get(value);
    if (token && Date.now() < token.expiresAt) return token.caller;
    const caller = keys.find(value);
    if (caller) knownKeys.set(value, caller);
    return caller ?? (tokens && isToken.test(value) ? verifyToken(value) : invalidCredentials);
  }

  async function verifyToken(token: string): Promise<Caller | Refusal> {
    const verified = await tokens?.verify(token);
    if (!verified) return invalidCredentials;
    const { caller } = verified;
    // Not for long: a token is also refused once the issuer has withdrawn its key.
    knownTokens.set(token, { caller, expiresAt: Math.min(verified.expiresAt, Date.now() + maxTokenCacheMs) });
    return caller;
  }
}

const maxTokenCacheMs = 60_000;
const isToken = /^[\w-]+\.[\w-]+\.[\w-]+$/;

const unsigned: Unsigned = { kind: 'unsigned' };
