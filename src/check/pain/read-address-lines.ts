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
  const postcode = postcodes.get(country);
  if (postcode === undefined || lines.length > 3) return null;
  const form = new RegExp(`^(?:${country}-)?(${postcode}) +(\\p{L}[\\p{L} .'()/-]*)$`, 'u');
  const found = lines.flatMap((line, index) => {
    const [, code = '', town = ''] = form.exec(line) ?? [];
    return isTown(town, country) ? [{ index, code, town }] : [];
  });
  const isPostcode = new RegExp(`(?:^|[^\\d])${postcode}(?:$|[^\\d])`);
  const [place, ...others] = found;
  // Another number of this form may be the postcode.
  if (place === undefined || others.length > 0 || lines.filter((line) => isPostcode.test(line)).length > 1) return null;
  const town = { PstCd: place.code, TwnNm: place.town };
  const rest = lines.flatMap((line, index) => (index === place.index ? [] : [{ line, index }]));
  const street = rest.length === 1 && rest[0] !== undefined ? readStreet(rest[0].line, country) : null;
  if (street === null) return { elements: town, used: [place.index] };
  return { elements: { ...street, ...town }, used: lines.map((_, index) => index) };
}

/** Not with a country, a province or anything else behind it. */
function isTown(text: string, country: string): boolean {
  if (text === '' || text.length > 35 || /\b[A-Z]{2}\)?$/.test(text)) return false;
  const words = text.toLowerCase();
  return !countryNames(country).some((name) => words.endsWith(name) && words !== name);
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

/** Countries whose postcode is before the town, in one line; those of the Universal Postal Union. */
const postcodes: ReadonlyMap<string, string> = new Map(
  [
    ['AT BE BG CH DK HU LI LU NO SI', String.raw`\d{4}`],
    ['DE EE ES FI FR HR IT', String.raw`\d{5}`],
    ['CZ GR SE SK', String.raw`\d{3} ?\d{2}`],
    ['NL', String.raw`\d{4} ?[A-Z]{2}`],
    ['PL', String.raw`\d{2}-\d{3}`],
    ['PT', String.raw`\d{4}-\d{3}`],
  ].flatMap(([countries = '', form = '']) => countries.split(' ').map((country) => [country, form] as const)),
);

/** Countries where the number of a building follows the name of its street. */
const numberFollows: ReadonlySet<string> = new Set('AT CH CZ DE DK FI HR HU LI NL NO PL SE SI SK'.split(' '));
