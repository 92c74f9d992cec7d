import { createPublicKey, type KeyObject } from 'node:crypto';
import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type JWK,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { LRUCache } from 'lru-cache';
import { Agent } from 'undici';
import { answerWithin } from '../../base/async/pause.ts';
import { errorCodeOf } from '../../base/errors.ts';
import { isObject, readProperty } from '../../base/parse-json.ts';
import type { JwtConfig } from '../config/access-config.ts';
import { isScope, ownLimits } from '../config/callers.ts';
import type { Events } from '../telemetry/events.ts';
import type { Caller, CreateCaller } from './caller.ts';

/** The issuer's key set could not be read yet, so no token can be verified. */
interface Unverified {
  kind: 'unverified';
  /** Seconds until the key set may be read again. */
  waitS: number;
}

interface TokenVerificationOptions {
  jwt: JwtConfig;
  createCaller: CreateCaller;
  events: Pick<Events, 'keySetUnavailable'>;
}

export function createTokenVerification({ jwt, createCaller, events }: TokenVerificationOptions) {
  const { callerClaim, scopesClaim, limitsClaim, keys } = jwt;
  const { getKey, waitS, hasFailed, readMissing, close } =
    'url' in keys ? createKeySet(keys.url, events) : keySetOf(keys.publicKey);
  const options = {
    issuer: jwt.issuer,
    audience: jwt.audience,
    algorithms,
    clockTolerance: clockSkewS,
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
    /** Null if the token is not valid. Never rejects. */
    async verify(token: string): Promise<Caller | Unverified | null> {
      try {
        const { payload } = await jwtVerify(token, getKey, options);
        const { exp = Number.NaN, nbf = 0, iat = 0 } = payload;
        // JSON can contain 1e999, which is read as infinity.
        if (![exp, nbf, iat].every(Number.isFinite)) return null;
        const caller = readCaller(payload);
        // Not for long: a token is also refused once the issuer has withdrawn its key.
        const usableUntil = Math.min(exp * 1_000, Date.now() + maxTokenCacheMs);
        if (caller) verified.set(token, { caller, usableUntil });
        return caller;
      } catch (error) {
        return error instanceof NoKeySetError ? { kind: 'unverified', waitS: waitS() } : null;
      }
    },
    hasFailed,
    readMissing,
    close,
  };

  function readCaller(payload: JWTPayload): Caller | null {
    const name = readClaim(payload, callerClaim);
    const limits = ownLimits.safeParse((limitsClaim !== null && readClaim(payload, limitsClaim)) || {});
    if (typeof name !== 'string' || name === '' || name.length > maxNameLength || !limits.success) return null;
    const scopesOf = readClaim(payload, scopesClaim) ?? (scopesClaim === 'scope' ? payload.scp : undefined);
    const names = listNames(scopesOf).map((name) => name.replace(/^ledgerquill:/, ''));
    const scopes = names.filter(isScope);
    return createCaller({ kind: 'jwt', name, scopes, limits: limits.data });
  }
}

/** A token names its algorithm itself. Asymmetric only: with an HMAC algorithm, the public key could be used to sign tokens. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
/** How far the clocks of the issuer and of the gateway may differ. */
const clockSkewS = 30;
const maxTokenCacheMs = 60_000;
const maxNameLength = 256;

/** A claim by its name, which may contain dots, or by a dotted path. */
function readClaim(payload: JWTPayload, name: string): unknown {
  if (Object.hasOwn(payload, name)) return payload[name];
  return name.split('.').reduce<unknown>(readProperty, payload);
}

/** OAuth separates scopes by spaces; roles are arrays. */
function listNames(claim: unknown): string[] {
  const names: unknown[] = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : [];
  return names.filter((name) => typeof name === 'string');
}

interface KeySet {
  /** The key for a token. @throws JOSEError if there is none, NoKeySetError if no keys could be read yet */
  getKey: JWTVerifyGetKey;
  /** Seconds until the next attempt to read the keys. */
  waitS(): number;
  /** Whether the last attempt to read the keys has failed. */
  hasFailed(): boolean;
  /** Starts to read the keys if they were not read yet, or the last attempt has failed. */
  readMissing(): void;
  close(): Promise<void>;
}

class NoKeySetError extends Error {}

/** For the only key of an issuer, which is configured. */
function keySetOf(publicKey: KeyObject): KeySet {
  return {
    getKey: async () => publicKey,
    waitS: () => 0,
    hasFailed: () => false,
    readMissing() {},
    close: async () => {},
  };
}

/**
 * The issuer's public keys. They are read again when they are 10 minutes old, while the previous ones remain in use, and
 * at once for a token with an unknown key. At most one request per 10 seconds is sent, so that tokens with invented
 * keys do not cause requests. If the issuer fails or sends no key that can be used, the last keys remain in use.
 */
function createKeySet(url: string, events: Pick<Events, 'keySetUnavailable'>): KeySet {
  const agent = createAgent();
  let readAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let hasFailed = false;
  const findKey = createRemoteJWKSet(new URL(url), {
    cooldownDuration: pauseMs,
    cacheMaxAge: Number.POSITIVE_INFINITY,
    [customFetch]: read,
  });
  const refresh = () => findKey.reload().catch(() => {});
  const isMissing = () => readAt === Number.NEGATIVE_INFINITY;

  return {
    hasFailed: () => hasFailed,
    readMissing() {
      if (hasFailed || isMissing()) void refresh();
    },
    async getKey(header, token) {
      if (isMissing()) await refresh();
      else if (performance.now() - readAt >= freshMs) void refresh();
      if (isMissing()) throw new NoKeySetError();
      const key = await answerWithin(findKey(header, token), maxWaitMs);
      if (key === undefined) throw new errors.JWKSNoMatchingKey();
      return key;
    },
    waitS: () => Math.max(1, Math.ceil((triedAt + pauseMs - performance.now()) / 1_000)),
    close: () => agent.destroy(),
  };

  /** The cooldown of jose begins with a success, this one with an attempt. */
  async function read(): Promise<Response> {
    if (performance.now() - triedAt < pauseMs) throw new NoKeySetError();
    triedAt = performance.now();
    const keys = await readKeySet(agent, url);
    hasFailed = typeof keys === 'string';
    if (typeof keys === 'string') {
      events.keySetUnavailable(keys);
      throw new NoKeySetError();
    }
    readAt = performance.now();
    return Response.json({ keys });
  }
}

const createAgent = () => new Agent({ maxResponseSize: maxBytes, connectTimeout: timeoutMs });

/** Why the issuer's key set cannot be used, or the code of a system error; null if it can. */
export async function findKeySetProblem(url: string): Promise<string | null> {
  const agent = createAgent();
  const keys = await readKeySet(agent, url);
  await agent.destroy();
  return typeof keys === 'string' ? keys : null;
}

/** The keys, or why they cannot be used. */
async function readKeySet(agent: Agent, url: string): Promise<JWK[] | string> {
  const { origin, pathname, search } = new URL(url);
  try {
    const request = { origin, path: pathname + search, method: 'GET', headers: { accept } } as const;
    // Redirects are not followed: they would lead to keys of others.
    const { statusCode, body } = await agent.request({ ...request, signal: AbortSignal.timeout(timeoutMs) });
    if (statusCode !== 200) {
      await body.dump();
      return `status ${statusCode}`;
    }
    const keys: unknown = Object(await body.json()).keys;
    if (!Array.isArray(keys)) return notKeySet;
    if (!keys.some(isPublicKey)) return 'no public key for signatures';
    // Keys of an unknown kind are ignored (RFC 7517, section 5).
    return keys.filter((jwk): jwk is JWK => isObject(jwk));
  } catch (error) {
    return error instanceof SyntaxError ? notKeySet : (errorCodeOf(error) ?? 'timed out');
  }
}

const notKeySet = 'not a JSON Web Key Set';

function isPublicKey(jwk: unknown): boolean {
  if (!isObject(jwk) || Object.hasOwn(jwk, 'd') || (jwk.use ?? 'sig') !== 'sig') return false;
  try {
    createPublicKey({ key: jwk, format: 'jwk' });
    return true;
  } catch {
    return false;
  }
}

const freshMs = 600_000;
const pauseMs = 10_000;
const timeoutMs = 5_000;
/** How long a token with an unknown key waits while the keys are read again. */
const maxWaitMs = 500;
const maxBytes = 1_000_000;
const accept = 'application/json, application/jwk-set+json';
