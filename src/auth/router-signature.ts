import { createHmac, timingSafeEqual } from 'node:crypto';
import { isObject } from '../parse-json.ts';

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
  const signature = isObject(extensions) && Object.hasOwn(extensions, name) ? extensions[name] : null;
  if (signature === null) return 'missing';
  // The length is checked first: the HMAC of an unsigned body would only take time.
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
 * Like the package json-stable-stringify, for values that were parsed from JSON. Takes at most 30 ms, however large the body is.
 * @throws RangeError if they are too many, or nested too deeply
 */
function toStableJson(root: object): string {
  let count = 0;
  return toJson(root, 0);

  function toJson(value: unknown, depth: number): string {
    count += 1;
    if (count > maxValues || depth > maxDepth) throw new RangeError('The value is too large or nested too deeply');
    if (Array.isArray(value)) return `[${value.map((item) => toJson(item, depth + 1)).join()}]`;
    if (!isObject(value)) return typeof value === 'string' ? JSON.stringify(value) : String(value);
    const names = Object.keys(value);
    if (count + names.length > maxValues) throw new RangeError('The value is too large');
    // The default order of `sort` is much faster than a function that compares.
    return `{${names
      .sort()
      .map((key) => `${JSON.stringify(key)}:${toJson(value[key], depth + 1)}`)
      .join()}}`;
  }
}

/** As many as in a request for 10,000 entities. */
const maxValues = 30_000;
const maxDepth = 20;
