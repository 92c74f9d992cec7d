const essayPurposes = ['narrative', 'argumentative', 'expository', 'descriptive'] as const;
export type EssayPurpose = (typeof essayPurposes)[number];

interface PurposeAndTitles {
  purpose: EssayPurpose | null;
  /** Suggested titles, best first. */
  titles: string[];
  /** The description without these sentences. */
  text: string;
}

/**
 * Reads writing purpose and title options, which have no parameter of their own and are sentences in the description:
 * `Writing purpose: argumentative.` and `Title options: First title, Second title.`
 */
export function readPurposeAndTitles(description: string): PurposeAndTitles {
  let purpose: EssayPurpose | null = null;
  const titles: string[] = [];
  const text = description
    .replace(purposeSentence, (_sentence, named: string) => {
      purpose = essayPurposes.find((known) => known === named.toLowerCase()) ?? purpose;
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

/** In characters; longer titles would be slow to process. */
const maxTitleLength = 300;
const maxTitles = 50;

const purposeSentence = /(?<!\S)writing purpose:[ \t]*(narrative|argumentative|expository|descriptive)\b[ \t]*\.?/gi;
/** Ends at the end of the line, or at a full stop that is followed by text and does not belong to an abbreviation. */
const titleSentence =
  /(?<!\S)title options?:[ \t]*([^\n]*?(?<!(?:^|[\s.])(?:\p{L}|Mr|Mrs|Ms|Dr|Prof|St|vs|No))\.(?=\s|$)|[^\n]*)/giu;
