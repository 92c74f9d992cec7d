import { compactBic } from '../../iban/bic.ts';
import type { Bank } from '../bank-data.ts';
import { readCount, readObject, readText, unlessEmpty } from './wire-values.ts';

export interface ServicePage {
  banks: readonly Bank[];
  /** Null where the service does not return it. */
  perPage: number | null;
  lastPage: number | null;
  total: number | null;
}

export interface BicAnswer {
  valid: boolean;
  /** Null where the service does not know the bank. */
  bank: Bank | null;
}

/** Whether a body of `swift_check` is about this compacted BIC; true if it names none. */
export function isAboutBic(body: unknown, bic: string): boolean {
  const found = readBic(readObject(readObject(body)?.bank_data));
  return found === null || isBicOrHeadOffice(compactBic(found), bic);
}

/** Parses the body of `swift_check`; null if it has another shape. */
export function readBicAnswer(body: unknown): BicAnswer | null {
  const wire = readObject(body);
  if (wire === null || typeof wire.valid !== 'boolean') return null;
  return { valid: wire.valid, bank: unlessEmpty(readBank(readObject(wire.bank_data))) };
}

/** A directory may list only the head office (XXX, or no branch) of a bank. */
function isBicOrHeadOffice(found: string, bic: string): boolean {
  const branch = found.slice(8) || 'XXX';
  return found.slice(0, 8) === bic.slice(0, 8) && (branch === 'XXX' || branch === bic.slice(8));
}

/**
 * Parses the body of `all`; null if it has another shape. It is a page of Laravel:
 * https://laravel.com/docs/pagination#converting-results-to-json
 */
export function readServicePage(body: unknown): ServicePage | null {
  const wire = readObject(body);
  if (wire === null || !Array.isArray(wire.data)) return null;
  const items = wire.data.map(readObject);
  if (items.includes(null)) return null;
  const meta = readObject(wire.meta);
  return {
    banks: items.flatMap((item) => (item ? [readListItem(item)] : [])),
    perPage: readCount(meta?.per_page) || null,
    lastPage: readCount(meta?.last_page),
    total: readCount(meta?.total),
  };
}

/** A US bank has a routing number (`us_routing`) instead of a bank code. */
function readListItem(wire: Readonly<Record<string, unknown>>): Bank {
  const ibanData = readObject(wire.iban_data);
  const usRouting = readText(wire.us_routing);
  const swiftBank = unlessEmpty(readBank(readObject(wire.swift_data)));
  const bank = swiftBank ?? readBank(readObject(wire.bank_data));
  return {
    ...bank,
    bankCode: bank.bankCode ?? readText(ibanData?.bank_code) ?? usRouting,
    countryCode: bank.countryCode ?? readText(ibanData?.country_code) ?? (usRouting === null ? null : 'US'),
    date: bank.date ?? readText(wire.revision_date),
  };
}

/** The endpoints use different names for the same field. `source` and `date` are only from the self-hosted service. */
function readBank(wire: Readonly<Record<string, unknown>> | null): Bank {
  return {
    bankCode: readText(wire?.bank_code),
    countryCode: readText(wire?.country_code),
    name: readText(wire?.name),
    address: readText(wire?.address),
    zip: readText(wire?.zip),
    city: readText(wire?.city),
    source: readText(wire?.source),
    date: readText(wire?.date),
    bic: readBic(wire),
  };
}

function readBic(wire: Readonly<Record<string, unknown>> | null): string | null {
  return readText(wire?.swift) ?? readText(wire?.bic);
}
