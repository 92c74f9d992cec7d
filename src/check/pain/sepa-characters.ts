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
 * A text in the SEPA set, as EPC217-08 converts it: a full stop replaces a sign that its table does not have. Null if that were a letter
 * or a digit: what is left would be another name.
 * @example
 * toSepaCharacters('Müller & Łódź') // => 'Muller + Lodz'
 * toSepaCharacters('日本') // => null
 * @param kept the further characters of a profile
 */
export function toSepaCharacters(text: string, kept: RegExp = onlySepa): string | null {
  const converted = [...text.normalize('NFC')].map((character) => {
    if (onlySepa.test(character) || kept.test(character)) return character;
    if (/\s/.test(character)) return ' ';
    return equivalents.get(character) ?? (/[\p{L}\p{M}\p{N}]/u.test(character) ? null : '.');
  });
  if (converted.includes(null)) return null;
  return converted.join('').replaceAll(/ {2,}/g, ' ').trim();
}

const onlySepa = /^[A-Za-z0-9/?:().,'+ -]*$/;

// cspell:disable
/** The table of EPC217-08, and what its chapter 6.2 says of & and @. Capitals are those of what small letters become. */
const equivalents: ReadonlyMap<string, string> = new Map(
  `
  ' \`  ( [{  ) ]}  , ;  - _~  / \\|  ? ¿  + &  (at) @  E €  I İ
  a àáâãäåæāăą  c çćĉċč  d ðďđ  e èéêëēĕėęě  g ĝğġģ  h ĥħ  i ìíîïĩīĭįıĳ  j ĵ  k ķ  l ĺļľŀł  n ñńņň  o òóôõöøőœ  r ŕŗř
  s ßśŝşšș  t þţťŧț  u ùúûüũūŭůűų  w ŵ  y ýÿŷ  z źżž
  a αά  ch χ  d δ  e εέ  f φ  g γ  i ηήιίϊΐ  k κ  l λ  m μ  n ν  o οόωώ  p π  ps ψ  r ρ  s σς  t τ  th θ  v β  x ξ  y υύϋΰ  z ζ
  a аъ  b б  ch ч  d д  e е  f ф  g г  h х  i и  k к  l л  m м  n н  o о  p п  r р  s с  sh ш  sht щ  t т  ts ц  u у  v в
  y йь  ya я  yu ю  z з  zh ж
  ` // cspell:enable
    .trim()
    .split(/\n| {2}/)
    .map((group) => group.trim().split(' '))
    .flatMap(([equivalent = '', characters = '']) =>
      [...characters].flatMap((character) => [
        [character.toUpperCase(), equivalent.toUpperCase()] as const,
        [character, equivalent] as const,
      ]),
    ),
);
