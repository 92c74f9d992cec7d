export const essayModes = ['Standard', 'Academic', 'Professional', 'Journalistic'] as const;
export type EssayMode = (typeof essayModes)[number];

export interface EssayOrder {
  /** Topic and points to cover, in the caller's words. */
  description: string;
  mode: EssayMode;
  /** Most words the text may have. */
  wordCount: number;
}

/** Whatever stands behind the service and writes: a language model or the offline drafter. */
export interface EssayWriter {
  /** Answers a text of 1 to `wordCount` words. Rejects when it cannot write one, or when the signal fires. */
  write(order: EssayOrder, signal: AbortSignal): Promise<string>;
}
