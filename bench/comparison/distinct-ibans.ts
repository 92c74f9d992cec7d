const bankCode = 10_000_000;

/** The n-th IBAN of one bank, for n of up to ten digits. The load calls it for every request, so it computes with numbers only. */
export function distinctIban(n: number): string {
  const bbanModulo = ((bankCode % 97) * (1e10 % 97) + n) % 97;
  // ISO 7064: the BBAN, then DE as 1314 and 00.
  const checkDigits = 98 - ((bbanModulo * 1e6 + 131_400) % 97);
  return `DE${String(checkDigits).padStart(2, '0')}${bankCode}${String(n).padStart(10, '0')}`;
}
