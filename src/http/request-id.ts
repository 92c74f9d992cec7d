import { randomInt } from 'node:crypto';

/**
 * The client's own id, so that a request can be traced across services; otherwise a new one.
 * @param header x-request-id
 */
export type ReadRequestId = (header: string | string[] | undefined) => string;

/** New ids differ from those of other processes. Counting takes a quarter of the time of a random number per request. */
export function createRequestIds(): ReadRequestId {
  // Digits only: hexadecimal digits may look like an IBAN, which the log would redact.
  const prefix = String(randomInt(2 ** 47, 2 ** 48 - 1));
  let count = 0;

  return (header) => {
    if (typeof header === 'string' && /^[\w.:-]{1,128}$/.test(header)) return header;
    count += 1;
    return `${prefix}-${count}`;
  };
}
