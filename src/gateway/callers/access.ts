import { createHmac, timingSafeEqual } from 'node:crypto';
import { type AccessConfig, hasCallers } from '../config/access-config.ts';
import type { Scope } from '../config/callers.ts';
import type { StoreConfig } from '../config/read-config.ts';
import type { Replicas } from '../stores/gateway-count.ts';
import type { Store } from '../stores/store.ts';
import type { Events } from '../telemetry/events.ts';
import { createApiKeys } from './api-keys.ts';
import { type Caller, createCallerFactory } from './caller.ts';
import { createTokenVerification } from './jwt.ts';
import { createPaidBudgets } from './paid-budget.ts';
import { createRateLimit } from './rate-limit.ts';

export type Access = ReturnType<typeof createAccess>;

interface AccessOptions {
  access: AccessConfig;
  /** Where requests and calls are counted. */
  storeConfig: StoreConfig;
  store: Store;
  replicas: Replicas;
  events: Events;
}

/** Who may call, how often, and how much. @throws ConfigError if the file with API keys is invalid */
export function createAccess(options: AccessOptions) {
  const { access, storeConfig, store, replicas, events } = options;
  const { redis, secret, countTimeoutMs } = storeConfig;
  const { byHeaders, bySignature, close, ...credentials } = createIdentify(options, secret);
  const rateLimit = createRateLimit({ store: redis && store, replicas, events });
  const budgets = createPaidBudgets({ store, replicas, countTimeoutMs, events });

  return {
    ...credentials,
    /**
     * Identifies the caller by the headers of a request, before its body is read, and counts the request. A promise only
     * for new tokens, and while requests are counted.
     * @param rawHeaders names and values in turn, as in `IncomingMessage.rawHeaders`
     */
    identifyAndCount(rawHeaders: readonly string[]): Caller | Refusal | Signed | Promise<Caller | Refusal> {
      const caller = byHeaders(rawHeaders);
      if (caller instanceof Promise) return caller.then(countRequest);
      return caller.kind === 'signed' ? caller : countRequest(caller);
    },
    /** The same for a signed request. @param content its body, or its query in the URL if it has no body */
    identifySignedAndCount: (rawHeaders: readonly string[], content: string | Uint8Array) =>
      countRequest(bySignature(rawHeaders, content)),
    /** Whether the headers of an earlier request still identify its caller, who may still use the same. Counts no request. */
    confirm: async (rawHeaders: readonly string[], caller: Caller) => isSame(await byHeaders(rawHeaders), caller),
    budgets,
    /** Whether callers differ. */
    hasCallers: hasCallers(access),
    /** Stores everything that was counted. Await it before the store is closed. */
    async close() {
      await Promise.all([budgets.flush(), close()]);
    },
  };

  function countRequest(caller: Caller | Refusal): Caller | Refusal | Promise<Caller | Refusal> {
    if (caller.kind === 'refused') return caller;
    if (caller.limits.requestsPerMinute === null) return caller;
    const seconds = rateLimit.count(caller.id, caller.limits.requestsPerMinute);
    if (seconds instanceof Promise)
      return seconds.then((seconds) => (seconds === null ? caller : refuseFrequent(seconds)));
    return seconds === null ? caller : refuseFrequent(seconds);
  }
}

/** A signature does not expire. */
function isSame(found: Caller | Refusal | Signed, { id, accessKey }: Caller): boolean {
  if (found.kind === 'signed') return true;
  return found.kind !== 'refused' && found.id === id && found.accessKey === accessKey;
}

/** A request with a signature of its content, which is not read yet. */
interface Signed {
  kind: 'signed';
}

/** The response to a request that is not executed. */
export interface Refusal {
  kind: 'refused';
  status: 401 | 429 | 503;
  code: 'UNAUTHENTICATED' | 'RATE_LIMITED' | 'ISSUER_UNAVAILABLE';
  /** The same for all wrong credentials, so that it helps no attacker. */
  message: string;
  headers: Readonly<Record<string, string>>;
}

/** @param nameSecret hashes the names of callers in tokens; null: a new one @throws ConfigError if the file with API keys is invalid */
function createIdentify({ access, events }: AccessOptions, nameSecret: string | null) {
  const createCaller = createCallerFactory({ ...access, ...(nameSecret !== null && { nameSecret }) });
  const { jwt, router, anonymousScopes } = access;
  const anonymous = anonymousScopes && createCaller({ kind: 'anonymous', name: '', scopes: anonymousScopes });
  const routerCaller = router && createCaller({ kind: 'router', name: '', scopes: router.scopes });
  const withoutCredentials = anonymous ?? missingCredentials;
  const keys = createApiKeys({ ...access, createCaller, events });
  const tokens = jwt && createTokenVerification({ jwt, createCaller, events });

  return {
    byHeaders: hasCallers(access) ? byHeaders : () => withoutCredentials,
    /** Finds the caller of a signed request. */
    bySignature(rawHeaders: readonly string[], content: string | Uint8Array): Caller | Refusal {
      const signatures = headerValues(rawHeaders, signatureHeader);
      if (router === null || routerCaller === null || signatures.length !== 1) return invalidCredentials;
      const isSigned = router.secrets.some((secret) => isSignature(signatures[0] ?? '', secret, content));
      return isSigned ? routerCaller : invalidCredentials;
    },
    /** The callers that have API keys now. */
    callers: keys.callers,
    /** Reads the file with API keys again. */
    reloadKeys: keys.reload,
    /**
     * Whether the API keys with which a caller could use the scope were removed, or its tokens are blocked. Other credentials expire by
     * themselves.
     */
    isWithdrawn(callerId: string, scope: Scope): boolean {
      if (keys.isBlocked(callerId)) return true;
      const isAllowed = (caller: Caller) => caller.id === callerId && caller.scopes.has(scope);
      return callerId.startsWith('api-key:') && !keys.callers().some(isAllowed);
    },
    /** Whether the keys of the token issuer could be read the last time; null without tokens. */
    isIssuerUp: () => (tokens === null ? null : !tokens.hasFailed()),
    /** Starts to read the keys of the token issuer, unless they were read. */
    readMissingTokenKeys: () => tokens?.readMissing(),
    async close() {
      keys.close();
      await tokens?.close();
    },
  };

  /**
   * Finds the caller by the headers of a request, before its body is read. A promise only for a token that was not used
   * in the last minute.
   * @param rawHeaders names and values in turn, as in `IncomingMessage.rawHeaders`: only there are repeated headers visible
   */
  function byHeaders(rawHeaders: readonly string[]): Caller | Refusal | Signed | Promise<Caller | Refusal> {
    const credential = readCredential(rawHeaders);
    if (credential === null) {
      const isSigned = routerCaller !== null && headerValues(rawHeaders, signatureHeader).length > 0;
      return isSigned ? signed : withoutCredentials;
    }
    if (credential === '') return invalidCredentials;
    const caller = tokens?.findVerified(credential) ?? keys.find(credential);
    if (caller || !tokens || !isToken.test(credential)) return refuseBlocked(caller);
    return tokens.verify(credential).then((found) => {
      return found?.kind === 'unverified' ? refuseUnverified(found.waitS) : refuseBlocked(found);
    });
  }

  function refuseBlocked(caller: Caller | null): Caller | Refusal {
    return caller === null || keys.isBlocked(caller.id) ? invalidCredentials : caller;
  }
}

const isToken = /^[\w-]+\.[\w-]+\.[\w-]+$/;

const signed: Signed = { kind: 'signed' };

// https://www.rfc-editor.org/rfc/rfc6750#section-3
const missingCredentials = createRefusal(
  401,
  'UNAUTHENTICATED',
  'The request needs an API key or a token, as authorization: Bearer or as x-api-key.',
  { 'www-authenticate': 'Bearer' },
);
const invalidCredentials = createRefusal(401, 'UNAUTHENTICATED', 'The credentials are not valid.', {
  'www-authenticate': 'Bearer error="invalid_token"',
});

function refuseUnverified(waitS: number): Refusal {
  const message = `The gateway could not read the keys of the token issuer, so it cannot verify tokens; retry in ${waitS} s.`;
  return createRefusal(503, 'ISSUER_UNAVAILABLE', message, { 'retry-after': String(waitS) });
}

function refuseFrequent(seconds: number): Refusal {
  const message = `This caller has sent its requests of this minute; retry in ${seconds} s.`;
  return createRefusal(429, 'RATE_LIMITED', message, { 'retry-after': String(seconds) });
}

export function createRefusal(
  status: Refusal['status'],
  code: Refusal['code'],
  message: string,
  headers: Refusal['headers'],
): Refusal {
  return { kind: 'refused', status, code, message, headers };
}

/**
 * Reads `authorization: Bearer VALUE` or `x-api-key: VALUE`. Several are invalid, even if equal: a proxy in front of the
 * gateway may have checked another one.
 * @returns null if there is none, and an empty text if it is invalid
 */
function readCredential(rawHeaders: readonly string[]): string | null {
  const bearers = headerValues(rawHeaders, 'authorization');
  const keys = headerValues(rawHeaders, 'x-api-key');
  if (bearers.length + keys.length === 0) return null;
  const [credential = '', ...others] = [...bearers.map(readBearer), ...keys];
  return others.length === 0 && credential.length <= maxLength ? credential : '';
}

function readBearer(text: string): string {
  return /^bearer /i.test(text) ? text.slice('Bearer '.length) : '';
}

const maxLength = 8_192;

const signatureHeader = 'x-router-signature';

/**
 * Whether a router has signed this: `sha256=` and the HMAC-SHA256 of its bytes in hexadecimal digits. It covers all parameters, but does
 * not prevent that a recorded request is sent again.
 */
function isSignature(signature: string, secret: string, content: string | Uint8Array): boolean {
  const [, digits] = /^sha256=([\da-f]{64})$/.exec(signature) ?? [];
  if (digits === undefined) return false;
  const expected = createHmac('sha256', secret).update(content).digest();
  return timingSafeEqual(expected, Buffer.from(digits, 'hex'));
}

/** All values of a header, of which Node.js keeps one. @param rawHeaders names and values in turn */
export function headerValues(rawHeaders: readonly string[], name: string): readonly string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const other = rawHeaders[index] ?? '';
    // Most headers are excluded by their length.
    if (other.length === name.length && other.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? '');
  }
  return values;
}
