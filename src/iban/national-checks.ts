import { parseIban } from './iban.ts';
import { belgium } from './national-checks/belgium.ts';
import { cin } from './national-checks/cin.ts';
import { cleRib } from './national-checks/cle-rib.ts';
import { croatia } from './national-checks/croatia.ts';
import { czechia } from './national-checks/czechia.ts';
import { estonia } from './national-checks/estonia.ts';
import { finland } from './national-checks/finland.ts';
import { hungary } from './national-checks/hungary.ts';
import { mod9710, mod9710Except } from './national-checks/mod97-10.ts';
import type { NationalCheck } from './national-checks/national-check.ts';
import { netherlands } from './national-checks/netherlands.ts';
import { norway } from './national-checks/norway.ts';
import { poland } from './national-checks/poland.ts';
import { spain } from './national-checks/spain.ts';
import { findCountryFormat } from './registry.ts';

/**
 * Checks the national check digits of a compacted IBAN; the check digits of the IBAN itself do not matter.
 * NOT_APPLICABLE if the country has no known check, the structure is wrong, or the rule does not cover the account. A
 * failure is a reason to ask, never to reject: banks have exemptions.
 */
export function nationalCheck(iban: string): 'PASSED' | 'FAILED' | 'NOT_APPLICABLE' {
  const bban = parseIban(iban)?.bban;
  const check = findNationalCheck(iban.slice(0, 2));
  if (bban === undefined || check === null || check.covers?.(bban) === false) return 'NOT_APPLICABLE';
  return check.passes(bban) ? 'PASSED' : 'FAILED';
}

/** The check of a country or, for a territory, of its parent; null if none is known. */
export function findNationalCheck(country: string): NationalCheck | null {
  return checks.get(findCountryFormat(country)?.parent ?? country) ?? null;
}

// CF, CG, CM, GA, GQ, KM, MG and TD have a clé RIB too, but are not in the registry.
const checks: ReadonlyMap<string, NationalCheck> = new Map([
  ['BA', mod9710],
  ['BE', belgium],
  ['CZ', czechia],
  ['DJ', cleRib],
  ['EE', estonia],
  ['ES', spain],
  ['FI', finland],
  ['FR', cleRib],
  ['HR', croatia],
  ['HU', hungary],
  ['IT', cin],
  ['MC', cleRib],
  ['ME', mod9710],
  ['MK', mod9710],
  ['MR', cleRib],
  ['NL', netherlands],
  ['NO', norway],
  ['PL', poland],
  ['PT', mod9710],
  ['RS', mod9710Except('908')],
  ['SI', mod9710Except('01')],
  ['SK', czechia],
  ['SM', cin],
  ['TL', mod9710],
  ['TN', cleRib],
  ['XK', mod9710],
]);
