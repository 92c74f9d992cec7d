export interface FencedBlock {
  language: string;
  text: string;
  /** Line number of the first line of text. */
  line: number;
  /** The last heading before it. */
  heading: string;
}

/** The fenced code blocks of a Markdown page, in order. */
export function fencedBlocks(markdown: string): FencedBlock[] {
  const headings = [...markdown.matchAll(/^#+ (.+)$/gm)];
  return [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1] ?? '',
    text: match[2] ?? '',
    line: markdown.slice(0, match.index).split('\n').length + 1,
    heading: headings.findLast(({ index }) => index < match.index)?.[1] ?? '',
  }));
}
