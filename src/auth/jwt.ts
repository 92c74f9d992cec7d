import type { KeyObject } from 'node:crypto';
import {
  type CryptoKey,
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTHeaderParameters,
  type JWTPayload,
  jwtVerify,
} from 'jose';
import { LRUCache } from 'lru-cache';
import { Agent } from 'undici';
import type { JwtConfig } from '../config/access-config.ts';
import { isScope, ownLimits } from '../config/callers.ts';
import { errorCodeOf } from '../errors.ts';
import type { Events } from '../telemetry/events.ts';
import type { Caller, CreateCaller } from './caller.ts';

interface TokenVerificationOptions {
  jwt: JwtConfig;
  createCaller: CreateCaller;
  events: Pick<Events, 'keySetUnavailable'>;
}

export function createTokenVerification({ jwt, createCaller, events }: TokenVerificationOptions) {
  const { callerClaim, scopesClaim, scopesPrefix, limitsClaim, keys } = jwt;
  const { getKey, close } = 'url' in keys ? createKeySet(keys.url, events) : createSingleKey(keys.publicKey);
  const options = {
    issuer: jwt.issuer,
    audience: jwt.audience,
    // A token names its algorithm itself; all configured algorithms need the private key.
    algorithms: [...jwt.algorithms],
    clockTolerance: jwt.clockSkewS,
    requiredClaims: ['exp'],
  };
  /** Looking up a token shows nothing about others: its duration depends on a hash that is seeded per process. */
  const verified = new LRUCache<string, { caller: Caller; usableUntil: number }>({
    max: 10_000,
    maxSize: 2_000_000,
    sizeCalculation: (_, token) => token.length,
  });

  return {
    /** The caller of a token that was verified in the last minute and has not expired. */
    findVerified(token: string): Caller | null {
      const known = verified.get(token);
      return known && Date.now() < known.usableUntil ? known.caller : null;
    },
    /** Null if the token is not valid, for whatever reason. Never rejects. */
    async verify(token: string): Promise<Caller | null> {
      try {
        const { payload } = await jwtVerify(token, getKey, options);
        const caller = readCaller(payload);
        // Not for long: a token is also refused once the issuer has withdrawn its key.
        const usableUntil = Math.min((payload.exp ?? 0) * 1_000, Date.now() + maxTokenCacheMs);
        if (caller) verified.set(token, { caller, usableUntil });
        return caller;
      } catch {
        return null;
      }
    },
    close,
  };

  function readCaller(payload: JWTPayload): Caller | null {
    const name = readClaim(payload, callerClaim);
    const limits = ownLimits.safeParse((limitsClaim !== null && readClaim(payload, limitsClaim)) || {});
    if (typeof name !== 'string' || name === '' || name.length > maxNameLength || !limits.success) return null;
    const scopes = listNames(readClaim(payload, scopesClaim))
      .filter((scope) => scope.startsWith(scopesPrefix))
      .map((scope) => scope.slice(scopesPrefix.length))
      .filter(isScope);
    return createCaller({ kind: 'jwt', name, scopes, limits: limits.data });
  }
}

const maxTokenCacheMs = 60_000;
const maxNameLength = 256;

/** A claim by its name, which may contain dots, or by a dotted path. */
function readClaim(payload: JWTPayload, name: string): unknown {
  if (Object.hasOwn(payload, name)) return payload[name];
  let value: unknown = payload;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}

/** OAuth separates scopes by spaces; roles are arrays. */
function listNames(claim: unknown): string[] {
  const names: unknown[] = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : [];
  return names.filter((name) => typeof name === 'string');
}

type GetKey = (header: JWTHeaderParameters) => Promise<CryptoKey | KeyObject>;

interface KeySet {
  /** The key for a token. @throws JOSEError if there is none */
  getKey: GetKey;
  close(): Promise<void>;
}

function createSingleKey(key: KeyObject): KeySet {
  return { getKey: async () => key, close: async () => {} };
}

/**
 * The issuer's public keys. They are read again when they are 10 minutes old, while the previous ones remain in use, and
 * at once for a token with an unknown key. At most one request per 10 seconds is sent, so that tokens with invented
 * keys do not cause requests. If the issuer fails, the last keys remain in use.
 */
function createKeySet(url: string, events: Pick<Events, 'keySetUnavailable'>): KeySet {
  const agent = new Agent({ maxResponseSize: maxBytes, connectTimeout: timeoutMs });
  const { origin, pathname, search } = new URL(url);
  const request = { origin, path: pathname + search, method: 'GET', headers: { accept } } as const;
  let findKey: GetKey | null = null;
  let readAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  return {
    async getKey(header) {
      if (performance.now() - readAt >= freshMs) {
        const refreshed = refresh();
        if (findKey === null) await refreshed;
      }
      if (findKey === null) throw new errors.JWKSNoMatchingKey();
      try {
        return await findKey(header);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        await refresh();
        return findKey(header);
      }
    },
    close: () => agent.destroy(),
  };

  /** Has no effect if the last attempt was a few seconds ago. Never rejects. */
  async function refresh(): Promise<void> {
    if (reading === null) {
      if (performance.now() - triedAt < pauseMs) return;
      triedAt = performance.now();
      reading = read().finally(() => {
        reading = null;
      });
    }
    await reading;
  }

  async function read(): Promise<void> {
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      // Redirects are not followed: they would lead to keys of others.
      const { statusCode, body } = await agent.request({ ...request, signal });
      if (statusCode !== 200) {
        await body.dump();
        return events.keySetUnavailable(`status ${statusCode}`);
      }
      findKey = createLocalJWKSet((await body.json()) as JSONWebKeySet);
      readAt = performance.now();
    } catch (error) {
      const isUnreadable = error instanceof SyntaxError || error instanceof errors.JOSEError;
      events.keySetUnavailable(isUnreadable ? 'not a JSON Web Key Set' : (errorCodeOf(error) ?? 'timed out'));
    }
  }
}

const freshMs = 600_000;
const pauseMs = 10_000;
const timeoutMs = 5_000;
const maxBytes = 1_000_000;
const accept = 'application/json, application/jwk-set+json';
