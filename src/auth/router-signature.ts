import { createHmac, timingSafeEqual } from 'node:crypto';

/** The part of a GraphQL request that a router signs, and the extensions with its signature. */
export interface SignedParams {
  query?: unknown;
  variables?: unknown;
  extensions?: unknown;
}

/**
 * Verifies the signature of Hive Gateway (`hmacSignature`): the HMAC-SHA256 of the query and the variables, as JSON with
 * sorted keys, in `extensions['hmac-signature']`. It does not prevent that a recorded request is sent again.
 * https://the-guild.dev/graphql/hive/docs/gateway/other-features/security/hmac-signature
 */
export function verifySignature(secret: string, { query, variables, extensions }: SignedParams): SignatureCheck {
  const signature = isObject(extensions) && Object.hasOwn(extensions, name) ? Reflect.get(extensions, name) : null;
  if (signature === null) return 'missing';
  // The length is checked first: the HMAC of a body that nobody signed would only take time.
  if (typeof signature !== 'string' || !/^[\w+/]{43}=$/.test(signature) || typeof query !== 'string') return 'invalid';
  const hasVariables = isObject(variables) && Object.keys(variables).length > 0;
  const signed = toStableJson(hasVariables ? { query, variables } : { query });
  if (signed === null) return 'invalid';
  const expected = createHmac('sha256', secret).update(signed).digest();
  return timingSafeEqual(expected, Buffer.from(signature, 'base64')) ? 'valid' : 'invalid';
}

export type SignatureCheck = 'missing' | 'valid' | 'invalid';

const name = 'hmac-signature';

/** Like the package json-stable-stringify, for values that were parsed from JSON. Null if they are nested too deeply. */
function toStableJson(value: unknown, depth = 0): string | null {
  if (!isObject(value)) return JSON.stringify(value);
  if (depth > maxDepth) return null;
  const isArray = Array.isArray(value);
  const parts: string[] = [];
  for (const [key, child] of isArray ? value.entries() : Object.entries(value).sort(byKey)) {
    const json = toStableJson(child, depth + 1);
    if (json === null) return null;
    parts.push(isArray ? json : `${JSON.stringify(key)}:${json}`);
  }
  return isArray ? `[${parts}]` : `{${parts}}`;
}

const maxDepth = 200;

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
