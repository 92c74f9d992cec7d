import { randomInt } from 'node:crypto';

/** Of the process. Digits only: hexadecimal digits may look like an IBAN, which the log would redact. */
const prefix = String(randomInt(2 ** 47, 2 ** 48 - 1));
let count = 0;

/**
 * The client's own id, so that a request can be traced across services; otherwise a new one, different from those of
 * other processes. Counting takes a quarter of the time of a random number.
 * @param header x-request-id
 */
export function requestIdOf(header: string | string[] | undefined): string {
  if (typeof header === 'string' && /^[\w.:-]{1,128}$/.test(header)) return header;
  count += 1;
  return `${prefix}-${count}`;
}
