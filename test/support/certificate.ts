import tls from 'node:tls';
import { generate } from 'selfsigned';
import { vi } from 'vitest';

/** A certificate for localhost that no authority has signed, and its key. */
export async function createCertificate(): Promise<{ cert: string; key: string }> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], { keyType: 'ec' });
  return { cert, key };
}

/** From now on until the test ends, clients of this process trust this certificate, too. */
export function trust({ cert }: { cert: string }): void {
  const { createSecureContext } = tls;
  vi.spyOn(tls, 'createSecureContext').mockImplementation((options) => createSecureContext({ ...options, ca: cert }));
}
