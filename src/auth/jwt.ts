import type { KeyObject } from 'node:crypto';
import { type JWTPayload, jwtVerify } from 'jose';
import type { JwtConfig } from '../config/access-config.ts';
import { isScope, ownLimits } from '../config/caller-limits.ts';
import type { Events } from '../telemetry/events.ts';
import type { Caller, CreateCaller } from './caller.ts';
import { createKeySet, type KeySet } from './key-set.ts';

interface VerifiedToken {
  caller: Caller;
  /** In milliseconds since 1970. */
  expiresAt: number;
}

export interface TokenVerification {
  /** Null if the token is not valid, for whatever reason. Never rejects. */
  verify(token: string): Promise<VerifiedToken | null>;
  close(): Promise<void>;
}

interface TokenVerificationOptions {
  jwt: JwtConfig;
  createCaller: CreateCaller;
  events: Pick<Events, 'keySetUnavailable'>;
}

export function createTokenVerification({ jwt, createCaller, events }: TokenVerificationOptions): TokenVerification {
  const { issuer, audience, callerClaim, scopesClaim, scopesPrefix, limitsClaim, keys } = jwt;
  const { getKey, close } = 'url' in keys ? createKeySet({ url: keys.url, events }) : createSingleKey(keys.publicKey);
  const options = {
    issuer,
    audience,
    // A token names its algorithm itself; those of the configuration all need the private key.
    algorithms: [...jwt.algorithms],
    clockTolerance: jwt.clockSkewS,
    requiredClaims: ['exp'],
  };

  return {
    async verify(token) {
      try {
        const { payload } = await jwtVerify(token, getKey, options);
        const caller = readCaller(payload);
        return caller && { caller, expiresAt: (payload.exp ?? 0) * 1_000 };
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

const maxNameLength = 256;

function createSingleKey(key: KeyObject): KeySet {
  return { getKey: async () => key, close: async () => {} };
}

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
