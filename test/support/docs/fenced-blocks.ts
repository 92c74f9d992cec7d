export interface FencedBlock {
  language: string;
  /** The path after the language, if the block is a file of a project. */
  file: string | null;
  text: string;
  /** Line number of the first line of text. */
  line: number;
  /** The last heading before it. */
  heading: string;
}

/** The fenced code blocks of a Markdown page, in order. */
export function fencedBlocks(markdown: string): FencedBlock[] {
  const headings = [...markdown.matchAll(/^#+ (.+)$/gm)];
  return [...markdown.matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1] ?? '',
    file: match[2] ?? null,
    text: match[3] ?? '',
    line: markdown.slice(0, match.index).split('\n').length + 1,
    heading: headings.findLast(({ index }) => index < match.index)?.[1] ?? '',
  }));
}
