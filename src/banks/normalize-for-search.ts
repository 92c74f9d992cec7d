/** Removes accents and converts to small letters, so that `muller` finds `Müller`. */
export function normalizeForSearch(name: string): string {
  return name
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[ßæœøłđðþı]/g, (letter) => replacements[letter] ?? letter);
}

/** Letters that Unicode does not decompose into a letter and an accent. */
const replacements: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
};
