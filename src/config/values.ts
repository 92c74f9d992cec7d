import { z } from 'zod';

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
export const secret = requiredSecret('');

export function requiredSecret(description: string) {
  return z
    .string(`missing; ${description}`)
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
    .min(8, 'must have at least 8 characters');
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
    'must be origins such as https://app.example.com, separated by commas, or *',
  );

export const hostList = z
  .string()
  .toLowerCase()
  .transform(splitList)
  .refine(
    (hosts) => hosts.every((host) => host === '*' || isHostname(host)),
    'must be host names without ports, such as gateway.example.com, separated by commas, or *',
  );

export const pathList = z.string().transform(splitList);

function isPlainHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
}

function splitList(text: string): string[] {
  return text.split(',').map((item) => item.trim());
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}

function isHostname(text: string): boolean {
  return URL.canParse(`http://${text}`) && new URL(`http://${text}`).hostname === text;
}
