import { readList } from './code-lists.ts';

/** What the lines of an address say in one way only. */
interface ReadLines {
  /** By the names of elements, in their order. */
  elements: Readonly<Record<string, string>>;
  /** Which lines say it; the others remain lines. */
  used: readonly number[];
}

/**
 * The town and its postcode, and the street if it is the only other line; null if the lines can be read in several ways, or more than two
 * would remain. A town is what follows a postcode of the country, and nothing else is taken for one.
 * @example
 * readAddressLines('DE', ['Main Street 12', '60311 Frankfurt am Main']).elements
 * // => { StrtNm: 'Main Street', BldgNb: '12', PstCd: '60311', TwnNm: 'Frankfurt am Main' }
 * readAddressLines('DE', ['Frankfurt am Main']) // => null
 */
export function readAddressLines(country: string, lines: readonly string[]): ReadLines | null {
  const forms = formsOf(country);
  if (forms === null || lines.length > 3) return null;
  const found = lines.flatMap((line, index) => {
    const [, code = '', town = ''] = forms.place.exec(line) ?? [];
    return isTown(town, forms) ? [{ index, code, town }] : [];
  });
  const [place, ...others] = found;
  // Another number of this form may be the postcode.
  if (place === undefined || others.length > 0 || lines.filter((line) => forms.postcode.test(line)).length > 1)
    return null;
  const town = { PstCd: place.code, TwnNm: place.town };
  const rest = lines.flatMap((line, index) => (index === place.index ? [] : [{ line, index }]));
  const street = rest.length === 1 && rest[0] !== undefined ? readStreet(rest[0].line, country) : null;
  if (street === null) return { elements: town, used: [place.index] };
  return { elements: { ...street, ...town }, used: lines.map((_, index) => index) };
}

type Forms = ReturnType<typeof createForms>;

/** Once for each country: a message may have a hundred thousand addresses. */
const knownForms = new Map<string, Forms>();

function formsOf(country: string): Forms | null {
  const postcode = postcodes.get(country);
  if (postcode === undefined) return null;
  const forms = knownForms.get(country) ?? createForms(country, postcode);
  knownForms.set(country, forms);
  return forms;
}

function createForms(country: string, postcode: string) {
  return {
    /** A line with a postcode and a town. */
    place: new RegExp(`^(?:${country}-)?(${postcode}) +(\\p{L}[\\p{L} .'()/-]*)$`, 'u'),
    postcode: new RegExp(`(?:^|[^\\d])${postcode}(?:$|[^\\d])`),
    /** Of the country, in several languages. */
    names: countryNames(country),
  };
}

/** Not with a country, a province or anything else behind it. */
function isTown(text: string, { names }: Forms): boolean {
  if (text === '' || text.length > 35 || /\b[A-Z]{2}\)?$/.test(text)) return false;
  const words = text.toLowerCase();
  return !names.some((name) => words.endsWith(name) && words !== name);
}

function countryNames(country: string): readonly string[] {
  const locale = new Intl.Locale(`und-${country}`).maximize().language;
  return ['en', 'de', 'fr', 'it', 'es', 'nl', locale].flatMap(
    (language) => new Intl.DisplayNames([language], { type: 'region' }).of(country)?.toLowerCase() ?? [],
  );
}

function readStreet(line: string, country: string): { StrtNm: string; BldgNb: string } | null {
  if (!numberFollows.has(country) || otherPlaces.test(line)) return null;
  const [, StrtNm, BldgNb] = /^(\p{L}[\p{L} .'-]*[\p{L}.]) +(\d{1,4} ?[a-zA-Z]?)$/u.exec(line) ?? [];
  return StrtNm === undefined || BldgNb === undefined || StrtNm.length > 70 ? null : { StrtNm, BldgNb };
}

// cspell:disable
/** What a number belongs to if not to a street. */
const otherPlaces =
  /^(?:c\/o|z\.? ?h)|post ?(?:fach|bus|boks|box)|p\.? ?o\.? ?box|case postale|casella|b(?:oi|oî)te|apartado|skrytka|etage|stock|floor|suite|apt|app|wohnung|haus\b|geb(?:ä|ae)ude|building|room|zimmer|platform|unit/i;
// cspell:enable

/** Countries whose postcode is before the town, in one line, with its form. */
const postcodes = readList('postcode');

/** Countries where the number of a building follows the name of its street. */
const numberFollows = readList('number after street');
