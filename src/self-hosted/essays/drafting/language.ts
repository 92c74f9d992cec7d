/**
 * Whether a text can be part of English sentences. Compares its English and foreign function words; if that is
 * undecided, plain ASCII text counts as English.
 */
export function looksEnglish(text: string): boolean {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const english = words.filter((word) => englishWords.has(word)).length;
  const foreign = words.filter((word) => foreignWords.has(word)).length;
  const latin = words.filter((word) => /^[a-z]+$/.test(word)).length;
  if (words.length === 0 || latin < words.length * 0.6) return false;
  if (english !== foreign) return english > foreign;
  return english > 0 || latin === words.length;
}

const englishWords = new Set(
  'the of and to are for with how why about from that their what by should into a in on is it'.split(' '),
);
const foreignWords = new Set(
  'der die das und ein eine einen für über mit ist le la les des du et une un sur pour avec est el los las una del y con para sobre il di che per och att het een van voor dat är nie się na do w z и в на не что de en i o os'.split(
    ' ',
  ),
);
