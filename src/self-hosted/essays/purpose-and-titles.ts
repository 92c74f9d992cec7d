export const writingPurposes = ['narrative', 'argumentative', 'expository', 'descriptive'] as const;
export type WritingPurpose = (typeof writingPurposes)[number];

export interface PurposeAndTitles {
  purpose: WritingPurpose | null;
  /** Titles to choose from, best first. */
  titles: string[];
  /** The description without the two sentences. */
  text: string;
}

/** More than any title has; what is longer is none, and would take long to be judged. */
const maxTitleLength = 300;
const maxTitles = 50;

const purposeSentence = /(?<!\S)writing purpose:[ \t]*(narrative|argumentative|expository|descriptive)\b[ \t]*\.?/gi;
/** Ends with its line, or at a full stop that more text follows, unless that stop belongs to an abbreviation. */
const titleSentence =
  /(?<!\S)title options?:[ \t]*([^\n]*?(?<!(?:^|[\s.])(?:\p{L}|Mr|Mrs|Ms|Dr|Prof|St|vs|No))\.(?=\s|$)|[^\n]*)/giu;

/**
 * Reads the two wishes that have no parameter on the wire and travel as plain sentences inside the description:
 * `Writing purpose: argumentative.` and `Title options: First title, Second title.`
 */
export function readPurposeAndTitles(description: string): PurposeAndTitles {
  let purpose: WritingPurpose | null = null;
  const titles: string[] = [];
  const text = description
    .replace(purposeSentence, (_sentence, named: string) => {
      purpose = writingPurposes.find((known) => known === named.toLowerCase()) ?? purpose;
      return '';
    })
    .replace(titleSentence, (_sentence, list: string) => {
      titles.push(...readTitles(list));
      return '';
    })
    .trim();
  return { purpose, titles, text };
}

function readTitles(list: string): string[] {
  const quoted = [...list.matchAll(/["“]([^"“”]+)["”]/g)].map(([, title = '']) => title);
  const parts = quoted.length > 0 ? quoted : list.replace(/\.\s*$/, '').split(/[,，、]\s*/);
  const titles = parts.map((title) => title.slice(0, maxTitleLength).trim().replaceAll(/\s+/g, ' '));
  return titles.filter(Boolean).slice(0, maxTitles);
}
