export interface FencedBlock {
  language: string;
  text: string;
  /** Where the text begins. */
  line: number;
  /** The heading that it stands under. */
  heading: string;
}

/** The fenced blocks of code in a page of Markdown, in their order. */
export function fencedBlocks(markdown: string): FencedBlock[] {
  const headings = [...markdown.matchAll(/^#+ (.+)$/gm)];
  return [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1] ?? '',
    text: match[2] ?? '',
    line: markdown.slice(0, match.index).split('\n').length + 1,
    heading: headings.findLast(({ index }) => index < match.index)?.[1] ?? '',
  }));
}
