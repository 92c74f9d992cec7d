import { z } from 'zod';
import { compactBic } from '../../iban/bic.ts';
import type { Bank } from '../bank-data.ts';
import { count, optionalObject, text } from './wire-values.ts';

/** A bank. The endpoints use different names for the same field, such as `swift` and `bic`. */
const wireBank = optionalObject({
  bank_code: text,
  name: text,
  address: text,
  zip: text,
  city: text,
  country_code: text,
  swift: text,
  bic: text,
  // Only from the self-hosted service.
  source: text,
  date: text,
});

const wireBicAnswer = z.object({ valid: z.boolean(), bank_data: wireBank });

/** A US bank has a routing number (`us_routing`) instead of a bank code. */
const wireListItem = z.object({
  iban_data: optionalObject({ bank_code: text, country_code: text }),
  swift_data: wireBank,
  bank_data: wireBank,
  us_routing: text,
  revision_date: text,
});

/** Laravel's page: https://laravel.com/docs/pagination#converting-results-to-json */
const wirePage = z.object({
  data: z.array(wireListItem),
  meta: optionalObject({ current_page: count, last_page: count, per_page: count, total: count }),
});

export interface ServicePage {
  banks: readonly Bank[];
  /** Null where the service does not return it. */
  perPage: number | null;
  lastPage: number | null;
  total: number | null;
}

/** Parses the body of `swift_check` for this compacted BIC; null if it has another shape or is about another BIC. */
export function readBicAnswer(body: unknown, bic: string): { valid: boolean; bank: Bank | null } | null {
  const { data: wire } = wireBicAnswer.safeParse(body);
  if (wire === undefined) return null;
  const bank = wire.bank_data && readBank(wire.bank_data);
  if (bank?.bic && !isBicOrHeadOffice(compactBic(bank.bic), bic)) return null;
  return { valid: wire.valid, bank };
}

/** A directory may list only the head office (XXX, or no branch) of a bank. */
function isBicOrHeadOffice(found: string, bic: string): boolean {
  const branch = found.slice(8) || 'XXX';
  return found.slice(0, 8) === bic.slice(0, 8) && (branch === 'XXX' || branch === bic.slice(8));
}

/** Parses the body of `all`; null if it has another shape. */
export function readServicePage(body: unknown): ServicePage | null {
  const { data: wire } = wirePage.safeParse(body);
  if (wire === undefined) return null;
  return {
    banks: wire.data.map(readListItem),
    perPage: wire.meta?.per_page || null,
    lastPage: wire.meta?.last_page ?? null,
    total: wire.meta?.total ?? null,
  };
}

function readListItem({
  iban_data,
  swift_data,
  bank_data,
  us_routing,
  revision_date,
}: z.infer<typeof wireListItem>): Bank {
  const bank = readBank({ ...emptyBank, ...bank_data, ...swift_data });
  return {
    ...bank,
    bankCode: bank.bankCode ?? iban_data?.bank_code ?? us_routing,
    countryCode: bank.countryCode ?? iban_data?.country_code ?? (us_routing === null ? null : 'US'),
    date: bank.date ?? revision_date,
  };
}

function readBank(wire: NonNullable<z.infer<typeof wireBank>>): Bank {
  const { bank_code: bankCode, country_code: countryCode, name, address, zip, city, source, date } = wire;
  return { bankCode, countryCode, name, address, zip, city, source, date, bic: wire.swift ?? wire.bic };
}

const emptyBank = {
  bank_code: null,
  name: null,
  address: null,
  zip: null,
  city: null,
  country_code: null,
  swift: null,
  bic: null,
  source: null,
  date: null,
};
