/** A name as it is compared: without accents and in small letters, so that `muller` finds `Müller`. */
export function normalizeForSearch(name: string): string {
  return name
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[ßæœøłđðþı]/g, (letter) => withoutAccent[letter] ?? letter);
}

/** Letters that do not come apart into a letter and an accent. */
const withoutAccent: Readonly<Record<string, string>> = {
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
