import * as z from 'zod';
import { type OwnLimits, ownLimits, type Scope, scopeArray, scopeList } from './caller-limits.ts';

/** One API key. Several keys of one name belong to the same caller, so that keys can be replaced one after the other. */
export interface ApiKeyEntry {
  name: string;
  /** The SHA-256 hash of the key, in lower-case hexadecimal digits. */
  sha256: string;
  scopes: readonly Scope[];
  limits: OwnLimits;
}

const name = z.string().regex(/^[\w.-]{1,64}$/, 'names must have 1 to 64 letters, digits, dots, - and _');
const sha256 = z
  .string()
  .regex(
    /^[\da-f]{64}$/i,
    'must contain the SHA-256 hash of each key as 64 hexadecimal digits: ledgerquill api-key NAME',
  )
  .toLowerCase();

const format = 'must be entries name:sha256-hex:scope+scope, separated by commas';
const isUnique = (entries: ApiKeyEntry[]) => new Set(entries.map((entry) => entry.sha256)).size === entries.length;
const isUsedTwice = 'must contain the hash of each key only once';

/** The format of GATEWAY_API_KEYS: name:sha256-hex:scope+scope,... */
export const apiKeyList = z
  .string()
  .transform((text) => text.split(',').map((entry) => entry.trim().split(':')))
  .refine((entries) => entries.every((parts) => parts.length === 3), { error: format, abort: true })
  .transform((entries, context): ApiKeyEntry[] => {
    const parsed = z.array(z.tuple([name, sha256, scopeList])).safeParse(entries);
    if (parsed.success) return parsed.data.map(([name, sha256, scopes]) => ({ name, sha256, scopes, limits: {} }));
    for (const message of new Set(parsed.error.issues.map((issue) => issue.message))) context.addIssue(message);
    return z.NEVER;
  })
  .refine(isUnique, isUsedTwice);

/** The format of the file GATEWAY_API_KEYS_FILE. */
export const apiKeyDocument = z
  .strictObject({
    keys: z.array(z.strictObject({ name, sha256, scopes: scopeArray, limits: ownLimits.default({}) })),
  })
  .transform(({ keys }): ApiKeyEntry[] => keys)
  .refine(isUnique, isUsedTwice);
