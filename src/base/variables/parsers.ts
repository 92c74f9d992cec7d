import { createPublicKey, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import * as z from 'zod';
import { errorCodes } from '../errors.ts';

export function integer(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, error)
    .transform(Number)
    .refine((value) => value >= min && value <= max, error);
}

export const onOrOff = z.enum(['on', 'off'], { error: 'must be "on" or "off"' }).transform((value) => value === 'on');

/** Types of variables whose value may be in a file: its path is in `X_FILE` for `X`, as orchestrators mount secrets. */
export const inFiles = z.registry();

/** The names of the variables of a table, and of those with the paths of files. */
export function variableNames(shape: z.ZodRawShape): string[] {
  return Object.entries(shape).flatMap(([name, type]) =>
    inFiles.has(type as z.ZodType) ? [name, `${name}_FILE`] : [name],
  );
}

export const timeoutMs = integer(1, 3_600_000);

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];
export const logLevel = z.enum(logLevels, { error: `must be one of ${logLevels.join(', ')}` });

/** Most secrets are sent as header values. Shorter ones are easily guessed, and redacting them would remove words. */
export function secret({ minLength = 8, description = '' } = {}) {
  return z
    .string(`missing; ${description}`)
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
    .min(minLength, `must have at least ${minLength} characters`)
    .refine((text) => !isOwnText(text), 'must be random, not a word of the log, which would be redacted everywhere');
}

/** The one in use, and another one while it is replaced. */
export const secretList = secret({ minLength: 32 })
  .transform(splitList)
  .pipe(z.array(secret({ minLength: 32 })).max(2, 'must be one secret, or two while it is replaced'));

export const baseUrl = z
  .string()
  .refine(isPlainHttpUrl, 'must be an http:// or https:// URL without user name, password, query or fragment')
  .transform((url) => url.replace(/\/+$/, ''));

export const originList = z
  .string()
  .transform(splitList)
  .refine(
    (origins) => origins.every((origin) => origin === '*' || isOrigin(origin)),
    'must be origins such as https://app.example.com, without path or wildcard, separated by commas, or *',
  );

export const host = z
  .string()
  .refine(
    (text) => isIP(text) !== 0 || /^[a-z\d]([\w.-]*[a-z\d])?$/i.test(text),
    'must be an IP address or host name of this machine without a port, such as 127.0.0.1 or 0.0.0.0',
  )
  // So that one image and one chart listen on all addresses of every machine.
  .transform((text) => (text === '::' && !hasIpv6() ? '0.0.0.0' : text));

function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ family }) => family === 'IPv6'));
}

export const hostList = z
  .string()
  .toLowerCase()
  .transform(splitList)
  .refine(
    (hosts) => hosts.every((host) => host === '*' || isHostname(host)),
    'must be host names without port or wildcard, such as gateway.example.com, separated by commas, or *',
  );

/** Such as data.choices[0].text. */
const fieldPathPattern = /^(?:\$|(?:\[\d+\]|[^.,\s[\]$]+)(?:\[\d+\]|\.[^.,\s[\]]+)*)$/;

export const fieldPath = z
  .string()
  .regex(fieldPathPattern, 'must be the path of a field, such as data.essay or data.choices[0].text');

export const fieldPathList = z
  .string()
  .transform(splitList)
  .refine(
    (paths) => paths.every((path) => fieldPathPattern.test(path)),
    'must be paths of fields, such as data.essay or data.choices[0].text, separated by commas; or $ for the whole body',
  );

export const pathList = z.string().transform(splitList);

/** Without TLS, others could replace the keys on their way. */
export const jwksUrl = z
  .string()
  .refine(isSafeUrl, 'must be an https:// URL without user name and password; http:// only for a loopback address');

/** A public key in PEM or JWK format. */
export const publicKey = z.string().transform((text, context): KeyObject => {
  const key = readPublicKey(text);
  if (typeof key !== 'string') return key;
  context.addIssue(key);
  return z.NEVER;
});

function isPlainHttpUrl(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  return !url.username && !url.password && !url.search && !url.hash;
}

function splitList(text: string): string[] {
  return text.split(',').map((item) => item.trim());
}

function isOrigin(text: string): boolean {
  return !text.includes('*') && URL.canParse(text) && new URL(text).origin === text;
}

function isHostname(text: string): boolean {
  return !text.includes('*') && URL.canParse(`http://${text}`) && new URL(`http://${text}`).hostname === text;
}

/** Whether only this machine can reach a server on this host. IPv6 addresses with or without brackets. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || /^(::1|\[::1\]|127(\.\d{1,3}){3})$/.test(host);
}

function isSafeUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  return (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) && !username && !password;
}

/** The key, or what is wrong with it. */
function readPublicKey(text: string): KeyObject | string {
  try {
    const jwk: unknown = text.startsWith('{') ? JSON.parse(text) : null;
    const isPrivate = jwk === null ? text.includes('PRIVATE KEY') : Object.hasOwn(Object(jwk), 'd');
    if (isPrivate) return 'must be a public key, but is a private one';
    // Environment files often have one line per variable.
    const pem = text.replaceAll('\\n', '\n');
    const key = jwk === null ? createPublicKey(pem) : createPublicKey({ key: Object(jwk), format: 'jwk' });
    const { modulusLength = minRsaBits } = key.asymmetricKeyDetails ?? {};
    return modulusLength >= minRsaBits ? key : `must have at least ${minRsaBits} bits`;
  } catch {
    return 'must be a public key in PEM or JWK format';
  }
}

const minRsaBits = 2_048;

/**
 * Words of at least 8 characters that the gateway itself writes to its log, or reads in upstream responses: fields, services,
 * paths, codes and messages. Redacting such a secret would make them unreadable.
 */
const ownWords = `
bank-data ledgerquill
/graphql /bank_data/iban_validate /bank_data/iban_generate /bank_data/swift_check /bank_data/all /v2/generate/essay/
requestId operationType operationName documentId clientName clientVersion durationMs overheadMs cacheHits staleHits outcomes
upstreamCalls perSecond variables mutation subscription anonymous api-key: unreachable credentials wrong-secret read-only noeviction
IbanValidation InvalidIbanFields InvalidEssayInput EssayAllowanceExhausted EssayServiceFailed

allowance appendonly backwards: buffered collector configuration configured connection continued continues corrected CORS_ORIGINS documents executed exhausted exported: failing, maxmemory-policy,
BANK_DATA_API_KEY_FILE ESSAY_API_KEY_FILE GATEWAY_API_KEYS_FILE REDIS_URL_FILE STORE_SECRET_FILE STORE_SECRET_OLD_FILE TRUSTED_DOCUMENTS
gateway: idempotency invalid: look-ups operator password rejected, requests response suspended: unexpected upstream written:

account_number bank_code bank_data checksum country_code country_iban_example country_iban_format_as_regex
country_iban_format_as_swift current_page iban_data last_page national_checksum per_page revision_date sepa_country
swift_data us_routing
`.split(/\s+/);

/** Whether redacting this text, in any case, would also change texts of the gateway itself. */
export function isOwnText(text: string): boolean {
  return [...ownWords, ...errorCodes].some((word) => word.toLowerCase().includes(text.toLowerCase()));
}
