import { randomInt } from 'node:crypto';

/**
 * The client's own id, so that a request can be traced across services; otherwise a new one.
 * @param header x-request-id
 */
export type ReadRequestId = (header: string | string[] | undefined) => string;

/**
 * New ids have 12 characters, and begin with a digit. They cannot look like an IBAN, which the log would redact, and V8 creates
 * texts of this length in one piece: longer ones it would copy again before Node.js sends them. The last two characters are a
 * counter; the others begin at random, so that the ids of two processes differ.
 */
export function createRequestIds(): ReadRequestId {
  const firstDigit = randomInt(10);
  let block = randomInt(maxBlocks);
  let prefix = '';
  let used = idsPerBlock;

  return (header) => {
    if (typeof header === 'string' && /^[\w.:-]{1,128}$/.test(header)) return header;
    if (used === idsPerBlock) {
      used = 0;
      block = (block + 1) % maxBlocks;
      prefix = firstDigit + block.toString(36).padStart(9, '0');
    }
    used += 1;
    return prefix + endings[used - 1];
  };
}

/** Their number has at most 9 digits to base 36. */
const maxBlocks = 36 ** 9;
const endings = Array.from({ length: 100 }, (_, index) => String(index).padStart(2, '0'));
const idsPerBlock = endings.length;
