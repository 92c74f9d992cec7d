/**
 * What changes on a day, by the code of the rule: before it, nothing is found. A hint about an end is given before it, too.
 * docs/payment-messages.md has the documents by their names.
 */
const changes = {
  /** Between banks, by the day of settlement. */
  ADDRESS_UNSTRUCTURED: { from: '2026-11-15', source: 'EPC153-22' },
  ADDRESS_HYBRID: { from: '2026-11-15', source: 'EPC153-22' },
  /** Verification of Payee. */
  PAYEE_VERIFICATION: { from: '2025-10-09', source: 'Regulation (EU) 2024/886' },
} as const satisfies Record<string, { from: string; source: string }>;

/** Whether a change is in force on the day of a payment. @param day ISO 8601 */
export function isInForce(code: keyof typeof changes, day: string): boolean {
  return day >= changes[code].from;
}

interface VersionEnd {
  versions: readonly string[];
  /** Countries of the account that the payment is from or to. */
  countries: readonly string[];
  /** By which banks. */
  by: string;
  /** In words. */
  date: string;
  source: string;
}

const versionEnds: readonly VersionEnd[] = [
  {
    versions: ['pain.001.001.03', 'pain.001.003.03', 'pain.008.001.02', 'pain.008.003.02'],
    ...{ countries: ['DE'], by: 'German banks', date: 'November 2026', source: 'DFÜ agreement' },
  },
  {
    versions: ['pain.001.001.03', 'pain.008.001.02'],
    ...{ countries: ['CH', 'LI'], by: 'Swiss banks', date: 'November 2026', source: 'Swiss Payment Standards' },
  },
];

/** When the banks of a country cease to accept a version; null if no day is known. */
export function findVersionEnd(version: string, country: string): VersionEnd | null {
  return versionEnds.find((end) => end.versions.includes(version) && end.countries.includes(country)) ?? null;
}
