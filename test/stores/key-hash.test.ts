import { describe, expect, it } from 'vitest';
import { createKeyHash } from '../../src/stores/key-hash.ts';

describe('a hashed key', () => {
  it('is the HMAC-SHA-256 of the text, in base64url', () => {
    // RFC 4231, test case 2: 5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843.
    expect(createKeyHash('Jefe')('what do ya want for nothing?')).toBe('W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM');
  });

  it('differs for different texts and different secrets', () => {
    const iban = 'DE89370400440532013000';
    const hash = createKeyHash('one secret');
    expect(hash(iban)).toBe(createKeyHash('one secret')(iban));
    expect(hash(iban)).not.toBe(hash('DE02120300000000202051'));
    expect(hash(iban)).not.toBe(createKeyHash('another secret')(iban));
  });
});
