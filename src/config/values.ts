import { isIP } from 'node:net';
import * as z from 'zod';
import { isOwnText } from './own-texts.ts';

export function integer(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, error)
    .transform(Number)
    .refine((value) => value >= min && value <= max, error);
}

export const onOrOff = z.enum(['on', 'off'], { error: 'must be "on" or "off"' }).transform((value) => value === 'on');

export const timeoutMs = integer(1, 3_600_000);

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];
export const logLevel = z.enum(logLevels, { error: `must be one of ${logLevels.join(', ')}` });

/** Most secrets are sent as header values. Shorter ones are easily guessed, and redacting them would remove words. */
export const secret = secretOf(8);

export function secretOf(minLength: number) {
  return requiredSecret('', minLength);
}

export function requiredSecret(description: string, minLength = 8) {
  return z
    .string(`missing; ${description}`)
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
    .min(minLength, `must have at least ${minLength} characters`)
    .refine((text) => !isOwnText(text), 'must be random, not a word of the log, which would be redacted everywhere');
}

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
  );

export const hostList = z
  .string()
  .toLowerCase()
  .transform(splitList)
  .refine(
    (hosts) => hosts.every((host) => host === '*' || isHostname(host)),
    'must be host names without port or wildcard, such as gateway.example.com, separated by commas, or *',
  );

/** Such as data.essay. */
export const fieldPath = z
  .string()
  .regex(/^[^.\s]+(\.[^.\s]+)*$/, 'must be the path of a field, with dots between the names, such as data.essay');

export const pathList = z.string().transform(splitList);

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
