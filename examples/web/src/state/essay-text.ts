interface EssayText {
  /** Null if the text does not begin with one. */
  title: string | null;
  /** Each with its start offset, which is unique even if the text is not. */
  paragraphs: { start: number; text: string }[];
}

/** A title is a short first line that does not end like a sentence and has a text below. */
export function readEssayText(text: string): EssayText {
  const [first, ...others] = [...text.matchAll(/[^\n]+/g)].map((match) => ({ start: match.index, text: match[0] }));
  if (!first) return { title: null, paragraphs: [] };
  const title = first.text.replace(/^#+\s*/, '').trim();
  const isTitle = others.length > 0 && title.length <= 120 && !/[.!:;,]$/.test(title);
  return isTitle ? { title, paragraphs: others } : { title: null, paragraphs: [first, ...others] };
}
