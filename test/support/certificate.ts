import { generate } from 'selfsigned';

/** A certificate for localhost that no authority has signed, and its key. */
export async function createCertificate(): Promise<{ cert: string; key: string }> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], { keyType: 'ec' });
  return { cert, key };
}
