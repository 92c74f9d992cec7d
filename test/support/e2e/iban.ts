import { buildIban } from '../../../src/iban/build-iban.ts';

/** A German IBAN, different for every number. */
export function tIban(account: number): string {
  const result = buildIban({ country: 'DE', bankCode: '37040044', accountNumber: String(532_013_000 + account) });
  if (result.kind !== 'iban') throw new Error(JSON.stringify(result));
  return result.iban;
}
