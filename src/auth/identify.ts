import { type AccessConfig, hasCallers } from '../config/access-config.ts';
import type { Events } from '../telemetry/events.ts';
import { createApiKeys } from './api-keys.ts';
import { type Caller, createCallerFactory } from './caller.ts';
import { createTokenVerification } from './jwt.ts';
import { type SignedParams, verifySignature } from './router-signature.ts';

/** A request without credentials in its headers; its body may be signed. */
export interface Unsigned {
  kind: 'unsigned';
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

interface IdentifyOptions {
  access: AccessConfig;
  /** Hashes the names of callers in tokens; null: a new one. */
  nameSecret?: string | null;
  events: Pick<Events, 'apiKeysReloaded' | 'apiKeysFileInvalid' | 'keySetUnavailable'>;
}

/** @throws ConfigError if the file with API keys is invalid */
export function createIdentify({ access, nameSecret = null, events }: IdentifyOptions) {
  const createCaller = createCallerFactory({ ...access, ...(nameSecret !== null && { nameSecret }) });
  const { jwt, router, anonymousScopes } = access;
  const anonymous = anonymousScopes && createCaller({ kind: 'anonymous', name: '', scopes: anonymousScopes });
  const routerCaller = router && createCaller({ kind: 'router', name: '', scopes: router.scopes });
  const withoutCredentials = routerCaller ? unsigned : (anonymous ?? missingCredentials);
  const keys = createApiKeys({ ...access, createCaller, events });
  const tokens = jwt && createTokenVerification({ jwt, createCaller, events });

  return {
    byHeaders: hasCallers(access) ? byHeaders : () => anonymous ?? missingCredentials,
    /** Finds the caller of an unsigned request by its parameters. */
    byParams(params: SignedParams): Caller | Refusal {
      const check = router ? verifySignature(router.secret, params) : 'missing';
      if (check === 'valid' && routerCaller) return routerCaller;
      return check === 'missing' ? (anonymous ?? missingCredentials) : invalidCredentials;
    },
    callers: keys.callers,
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
  function byHeaders(rawHeaders: readonly string[]): Caller | Refusal | Unsigned | Promise<Caller | Refusal> {
    const credential = readCredential(rawHeaders);
    if (credential === null) return withoutCredentials;
    if (credential === '') return invalidCredentials;
    const caller = tokens?.findVerified(credential) ?? keys.find(credential);
    if (caller || !tokens || !isToken.test(credential)) return caller ?? invalidCredentials;
    return tokens.verify(credential).then((found) => {
      return found?.kind === 'unverified' ? refuseUnverified(found.waitS) : (found ?? invalidCredentials);
    });
  }
}

const isToken = /^[\w-]+\.[\w-]+\.[\w-]+$/;

const unsigned: Unsigned = { kind: 'unsigned' };

const missingCredentials = unauthenticated(
  'The request needs an API key or a token, as authorization: Bearer or as x-api-key.',
  'Bearer',
);
const invalidCredentials = unauthenticated('The credentials are not valid.', 'Bearer error="invalid_token"');

/** https://www.rfc-editor.org/rfc/rfc6750#section-3 */
function unauthenticated(message: string, challenge: string): Refusal {
  return { kind: 'refused', status: 401, code: 'UNAUTHENTICATED', message, headers: { 'www-authenticate': challenge } };
}

function refuseUnverified(waitS: number): Refusal {
  const message = `The gateway could not read the keys of the token issuer, so it cannot verify tokens; retry in ${waitS} s.`;
  return {
    kind: 'refused',
    status: 503,
    code: 'ISSUER_UNAVAILABLE',
    message,
    headers: { 'retry-after': String(waitS) },
  };
}

/**
 * Reads `authorization: Bearer VALUE` or `x-api-key: VALUE`. Several are invalid, even if equal: a proxy in front of the
 * gateway may have checked another one.
 * @returns null if there is none, and an empty text if it is invalid
 */
function readCredential(rawHeaders: readonly string[]): string | null {
  let found: string | null = null;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    // Most headers are excluded by their length.
    if (name.length !== authorization.length && name.length !== apiKey.length) continue;
    const lowerCase = name.toLowerCase();
    if (lowerCase !== authorization && lowerCase !== apiKey) continue;
    if (found !== null) return '';
    const text = rawHeaders[index + 1] ?? '';
    if (lowerCase === authorization && !bearer.test(text)) return '';
    found = lowerCase === authorization ? text.slice('Bearer '.length) : text;
    if (found.length > maxLength) return '';
  }
  return found;
}

const authorization = 'authorization';
const apiKey = 'x-api-key';
const bearer = /^bearer /i;
const maxLength = 8_192;
