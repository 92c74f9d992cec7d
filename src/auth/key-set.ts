import type { KeyObject } from 'node:crypto';
import { type CryptoKey, createLocalJWKSet, errors, type JSONWebKeySet, type JWTHeaderParameters } from 'jose';
import { Agent } from 'undici';
import { errorCodeOf } from '../errors.ts';
import type { Events } from '../telemetry/events.ts';

type GetKey = (header: JWTHeaderParameters) => Promise<CryptoKey | KeyObject>;

export interface KeySet {
  /** The key for a token. @throws JOSEError if there is none */
  getKey: GetKey;
  close(): Promise<void>;
}

interface KeySetOptions {
  url: string;
  events: Pick<Events, 'keySetUnavailable'>;
}

/**
 * The issuer's public keys. They are read again when they are 10 minutes old, while the previous ones remain in use, and
 * at once for a token with an unknown key. At most one request per 10 seconds is sent, so that tokens with invented
 * keys do not cause requests. If the issuer fails, the last keys remain in use.
 */
export function createKeySet({ url, events }: KeySetOptions): KeySet {
  const agent = new Agent({ maxResponseSize: maxBytes, connectTimeout: timeoutMs });
  const { origin, pathname, search } = new URL(url);
  const request = { origin, path: pathname + search, method: 'GET', headers: { accept } } as const;
  let findKey: GetKey | null = null;
  let readAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  return {
    async getKey(header) {
      const isStale = performance.now() - readAt >= freshMs;
      if (isStale) {
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
  function refresh(): Promise<void> {
    if (reading) return reading;
    if (performance.now() - triedAt < pauseMs) return Promise.resolve();
    triedAt = performance.now();
    reading = read().finally(() => {
      reading = null;
    });
    return reading;
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
