import { compactBic, findBicProblems } from '../iban/bic.ts';
import { compactIban, isValidIban, shortestIban } from '../iban/iban.ts';
import { findCountryFormat } from '../iban/registry.ts';

/** Only workbooks contain numbers. */
export type Cell = string | number;

/** A row of a table; a blank one has no cells, or empty ones. */
export type Cells = readonly Cell[];

/**
 * The text of a cell without what programs add to keep it a text, or at the end of a file.
 * @example
 * cellText('="DE89370400440532013000"') // => 'DE89370400440532013000'
 * cellText("'0123") // => '0123'
 */
export function cellText(cell: Cell | undefined): string {
  if (typeof cell !== 'string') return String(cell ?? '');
  if (!mayBeWrapped.test(cell)) return cell;
  const text = cell.replace(padding, '').trim();
  const [, formula] = /^="([^"]*)"$/.exec(text) ?? [];
  return formula ?? text.replace(/^['\u2019]/, '');
}

const mayBeWrapped = /^[\s='\u2019]|\p{Cc}$/u;
/** NUL from fields of a fixed length, and the end of a file in DOS. */
const padding = /\p{Cc}+$/u;

export function isBlankRow(cells: Cells): boolean {
  return cells.every((cell) => typeof cell === 'string' && !/[^\s\p{Cc}]/u.test(cell));
}

/** Whether a spreadsheet has replaced the digits of a long number by a power of ten. */
export function isShortenedNumber(cell: Cell | undefined): boolean {
  if (typeof cell === 'number') return Math.abs(cell) >= 1e15;
  return cell !== undefined && cell.length < 30 && /^[+-]?\d(?:[.,]\d+)?E\+?\d{1,3}$/i.test(cellText(cell).trim());
}

/**
 * What a cell has in place of an IBAN, compacted: the IBAN behind a label and before a BIC; the whole text if it has none, or several.
 * @example
 * readIbanCell('IBAN: DE89 3704 0044 0532 0130 00 BIC: COBADEFFXXX') // => 'DE89370400440532013000'
 * readIbanCell('n/a') // => 'N/A'
 */
export function readIbanCell(cell: Cell | undefined): string {
  const text = cellText(cell);
  const iban = compactIban(text);
  if (iban.length < shortestIban || isPlain(iban)) return iban;
  const found = findIbans(text);
  const right = found.filter(isValidIban);
  const [only, ...others] = new Set(right.length > 0 ? right : found);
  if (only !== undefined && others.length === 0) return only;
  const unlabelled = compactIban(text.replace(label, ''));
  return /^[A-Z]{2}\d\d/.test(unlabelled) ? unlabelled : iban;
}

// cspell:ignore nummer
const label = /^[^A-Z0-9]*IBAN(?:[^A-Z0-9]*(?:number|nummer|no|nr|code)(?![A-Z]))?[^A-Z0-9]*/i;

/** An IBAN of Malta with spaces, its BIC and labels has fewer than 100. */
const longestCell = 100;

/** Only an IBAN, right or wrong: as many characters as those of its country, or up to two more or fewer. */
function isPlain(iban: string): boolean {
  const length = findCountryFormat(iban.slice(0, 2))?.length ?? 0;
  return Math.abs(iban.length - length) <= 2 && /^[A-Z]{2}\d\d[A-Z0-9]+$/.test(iban);
}

/** Whether a cell has an IBAN, right or wrong, and perhaps a label and a BIC. */
export function looksLikeIban(cell: Cell | undefined): boolean {
  if (typeof cell !== 'string' || cell.length < shortestIban || cell.length > longestCell) return false;
  if (!ibanStart.test(cell)) return false;
  const iban = readIbanCell(cell);
  return isPlain(iban) || isValidIban(iban);
}

/** Whether a cell that looks like an IBAN has other words than a label before it. */
export function isBehindWords(cell: Cell): boolean {
  return !compactIban(cellText(cell).replace(label, '')).startsWith(readIbanCell(cell));
}

/** As `readIbanCell`, for a text that may have none: empty if no IBAN of any country begins in it. */
export function readIbanInText(cell: Cell | undefined): string {
  const starts = cellText(cell).matchAll(/(?:^|[^a-z0-9]|iban)([a-z]{2})[\s\p{Pd}]?\d{2}/giu);
  return [...starts].some(([, country = '']) => findCountryFormat(country.toUpperCase())) ? readIbanCell(cell) : '';
}

/** Whether a cell has nothing but an IBAN, right or wrong. */
export function isOnlyIban(cell: Cell | undefined): boolean {
  return typeof cell === 'string' && cell.length <= longestCell && isPlain(compactIban(cellText(cell)));
}

/** Letters, and digits that may be grouped. */
const ibanStart = /[a-z]{2}[\s\p{Cf}\p{Pd}]*\d[\s\p{Cf}\p{Pd}]*\d/iu;

/** All valid IBANs in a text, compacted. Other letters and digits do not touch them, but for a label. */
export function findValidIbans(cell: Cell | undefined): readonly string[] {
  if (typeof cell !== 'string' || cell.length < shortestIban || !ibanStart.test(cell)) return [];
  const whole = compactIban(cellText(cell));
  if (isPlain(whole) && isValidIban(whole)) return [whole];
  return findIbans(cell).filter(isValidIban);
}

/** Whether a cell has a further IBAN, right or wrong, beside the one that was read in it. */
export function hasFurtherIban(cell: Cell | undefined, iban: string): boolean {
  if (typeof cell !== 'string' || cell.length < iban.length + shortestIban) return false;
  const text = cellText(cell);
  return !isPlain(compactIban(text)) && findIbans(text).some((each) => each !== iban);
}

/** As long as those of their countries, right or wrong. */
function findIbans(text: string): string[] {
  const found: string[] = [];
  let tried = 0;
  for (const { index, 1: before = '' } of text.matchAll(
    /(^|[^a-z0-9]|iban)(?=[a-z]{2}[\s\p{Cf}\p{Pd}]*\d[\s\p{Cf}\p{Pd}]*\d)/giu,
  )) {
    const start = index + before.length;
    const iban = takeIban(text, start);
    if (iban !== null) found.push(iban);
    tried += 1;
    if (tried >= maxTried) break;
  }
  return found;
}

/** Places in a cell where an IBAN may begin: no cell needs more. */
const maxTried = 1_000;

/** A long text may have thousands of places where one may begin, so little is read at each. */
function takeIban(text: string, start: number): string | null {
  const length = findCountryFormat(text.slice(start, start + 2).toUpperCase())?.length ?? 0;
  if (length === 0) return null;
  const form = forms.get(length) ?? createForm(length);
  forms.set(length, form);
  const [written] = form.exec(text.slice(start, start + 2 * longestCell)) ?? [];
  return written === undefined || written.length > longestCell ? null : compactIban(written).replaceAll(/[./]/g, '');
}

/** By the number of letters and digits. */
const forms = new Map<number, RegExp>();

/** Letters and digits, which may be grouped. What follows does not continue them, as digits would. */
function createForm(length: number): RegExp {
  const between = '\\s\\p{Cf}\\p{Pd}./';
  const end = `(?![${between}]*[0-9]|[A-Za-z])`;
  return new RegExp(`^[A-Za-z0-9](?:[${between}]*[A-Za-z0-9]){${length - 1}}${end}`, 'u');
}

/** The BIC beside the IBAN in a cell; empty if there is none. */
export function readBicCell(cell: Cell | undefined): string {
  const text = cellText(cell);
  const [, labelled] = /\b(?:BIC|SWIFT)(?:[\s-]?code)?[\s.:]*([A-Z0-9]{8}(?:[A-Z0-9]{3})?)\b/i.exec(text) ?? [];
  const bic = compactBic(labelled ?? text);
  return labelled === undefined || findBicProblems(bic).length === 0 ? bic : compactBic(text);
}
