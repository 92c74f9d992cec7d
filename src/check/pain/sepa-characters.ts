import { readList } from './code-lists.ts';

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

/** The table of EPC217-08, and what its chapter 6.2 says of & and @. Capitals are those of what small letters become. */
const equivalents: ReadonlyMap<string, string> = new Map(
  [...readList('EPC217-08')].flatMap(([characters, equivalent]) =>
    [...characters].flatMap((character) => [
      [character.toUpperCase(), equivalent.toUpperCase()] as const,
      [character, equivalent] as const,
    ]),
  ),
);
