/**
 * The characters of a text that are not in the SEPA set, each once.
 * @example
 * findCharactersOutsideSepa('Müller & Göthe') // => ['ü', '&', 'ö']
 */
export function findCharactersOutsideSepa(text: string): readonly string[] {
  if (onlySepa.test(text)) return [];
  return [...new Set(text)].filter((character) => !onlySepa.test(character));
}

/** The characters of a text that are not in the set of Swiss banks: Latin letters of Europe, and what ASCII has. */
export function findCharactersOutsideSwiss(text: string): readonly string[] {
  return [...new Set(text)].filter((character) => !swiss.test(character));
}

export const swiss = /[\n\r\x20-\x7E\xA0-\u017F\u0218-\u021B€]/;

/**
 * A text in the SEPA set that a reader understands as the same, as banks convert it; a full stop replaces what has no equivalent.
 * @example
 * toSepaCharacters('Müller & Göthe') // => 'Mueller + Goethe'
 * toSepaCharacters('Łódź — Елена') // => 'Lodz - Elena'
 * @param kept the further characters of a profile
 */
export function toSepaCharacters(text: string, kept: RegExp = onlySepa): string {
  if (onlySepa.test(text)) return text;
  const characters = [...text.normalize('NFC')];
  const converted = characters.map((character) => (kept.test(character) ? character : convert(character))).join('');
  return converted.replaceAll(/ {2,}/g, ' ').trim();
}

/** Whether no letter or digit of a text is replaced by a full stop. */
export function hasEquivalents(text: string): boolean {
  return [...text].every((character) => !/[\p{L}\p{N}]/u.test(character) || convert(character) !== '.');
}

const onlySepa = /^[A-Za-z0-9/?:().,'+ -]*$/;

function convert(character: string): string {
  if (onlySepa.test(character)) return character;
  const known = findEquivalent(character);
  if (known !== null) return known;
  // Letters with accents, ligatures and full-width forms consist of others; accents have no width.
  const plain = [...character.normalize('NFKD')].filter((part) => !/\p{M}/u.test(part));
  return plain.map((part) => (onlySepa.test(part) ? part : (findEquivalent(part) ?? replaceSign(part)))).join('');
}

/** Null without one in the table. */
function findEquivalent(character: string): string | null {
  const known = equivalents.get(character);
  if (known !== undefined) return known;
  const small = equivalents.get(character.toLowerCase());
  return small === undefined ? null : small.charAt(0).toUpperCase() + small.slice(1);
}

function replaceSign(letter: string): string {
  if (/[\p{Cc}\p{Z}]/u.test(letter)) return ' ';
  if (/\p{Default_Ignorable_Code_Point}/u.test(letter)) return '';
  return /\p{Pd}/u.test(letter) ? '-' : '.';
}

/**
 * Lower case and signs. German umlauts as in German passports; Greek and Bulgarian as their states transliterate names, other
 * Cyrillic letters likewise; signs as close as the set allows.
 */
const equivalents: ReadonlyMap<string, string> = new Map(
  `
  ä ae  ö oe  ü ue  ß ss  æ ae  ø o  å a  œ oe  đ d  ð d  þ th  ł l  ı i  ħ h  ĸ k  ŋ n  ŧ t
  α a  β v  γ g  δ d  ε e  ζ z  η i  θ th  ι i  κ k  λ l  μ m  ν n  ξ x  ο o  π p  ρ r  σ s  ς s  τ t  υ y  φ f  χ ch  ψ ps  ω o
  а a  б b  в v  г g  д d  е e  ж zh  з z  и i  й y  к k  л l  м m  н n  о o  п p  р r  с s  т t  у u  ф f  х h  ц ts  ч ch  ш sh
  щ sht  ъ a  ь y  ю yu  я ya  ы y  э e  ё e  і i  ї yi  є ye  ґ g  ј j  љ lj  њ nj  ћ c  ђ dj  џ dz  ѕ dz
  & +  @ (at)  € EUR  £ GBP  _ -  " '  ‘ '  ’ '  ‚ '  “ '  ” '  „ '  « '  » '  \` '  ´ '  ; ,  [ (  ] )  { (  } )  < (  > )
  \\ /  | /  * .  # .  % .  = .  ! .  $ .  ^ .  ~ -  • .  … ...  § .  № No  ° .  × x
  `
    .trim()
    .split(/\n| {2}/)
    .map((pair) => pair.trim().split(' '))
    .filter(([character]) => character !== '')
    .map(([character = '', equivalent = '']) => [character, equivalent]),
);
