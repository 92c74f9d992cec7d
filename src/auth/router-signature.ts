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
  try {
    const signed = toStableJson(hasVariables ? { query, variables } : { query });
    const expected = createHmac('sha256', secret).update(signed).digest();
    return timingSafeEqual(expected, Buffer.from(signature, 'base64')) ? 'valid' : 'invalid';
  } catch {
    return 'invalid';
  }
}

export type SignatureCheck = 'missing' | 'valid' | 'invalid';

const name = 'hmac-signature';

/**
 * Like the package json-stable-stringify, for values that were parsed from JSON.
 * @throws RangeError if they are nested too deeply
 */
function toStableJson(value: unknown, depth = 0): string {
  if (!isObject(value)) return typeof value === 'string' ? JSON.stringify(value) : String(value);
  if (depth > maxDepth) throw new RangeError('The value is nested too deeply');
  if (Array.isArray(value)) return `[${value.map((item) => toStableJson(item, depth + 1)).join()}]`;
  const object = value as Record<string, unknown>;
  // The default order of `sort` is much faster than a function that compares.
  const keys = Object.keys(object).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${toStableJson(object[key], depth + 1)}`).join()}}`;
}

const maxDepth = 200;

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
