export const writingModes = ['Standard', 'Academic', 'Professional', 'Journalistic'] as const;
export type WritingMode = (typeof writingModes)[number];

export interface WritingOrder {
  /** Topic and points to cover, as the caller wrote them. */
  description: string;
  mode: WritingMode;
  /** Maximum number of words. */
  wordCount: number;
}

/** A language model or the offline drafter. */
export interface EssayWriter {
  /** Resolves to a text of 1 to `wordCount` words. Rejects if it fails or the signal fires. */
  write(order: WritingOrder, signal: AbortSignal): Promise<string>;
}
