import type { EssayMode, EssayOrder } from '../essay-writer.ts';
import { readPurposeAndTitles, type WritingPurpose } from '../purpose-and-titles.ts';

export interface ChatMessage {
  role: 'system' | 'user';
  content: string;
}

const manners: Readonly<Record<EssayMode, string>> = {
  Standard: 'Standard: a clear general essay in plain language.',
  Academic: 'Academic: formal and measured, one thesis, claims qualified, no contractions, no invented sources.',
  Professional: 'Professional: concise and practical, for readers at work who have to decide something.',
  Journalistic: 'Journalistic: a news report with a headline and a lead, the most important first, no invented quotes.',
};

const purposes: Readonly<Record<WritingPurpose, string>> = {
  narrative: 'narrative: tell it as one account, in order.',
  argumentative: 'argumentative: take a position and give reasons for it.',
  expository: 'expository: explain, and leave the judgement to the reader.',
  descriptive: 'descriptive: describe, so that the reader can picture it.',
};

/** The order as a language model is told it. */
export function composePrompt({ description, mode, wordCount }: EssayOrder): ChatMessage[] {
  const { purpose, titles, text } = readPurposeAndTitles(description);
  const rules = [
    'You write essays to order.',
    `Writing mode: ${manners[mode]}`,
    ...(purpose ? [`Writing purpose: ${purposes[purpose]}`] : []),
    `Length: close to ${wordCount} words and never more than ${wordCount}, title included.`,
    titles.length > 0
      ? `Title: choose the best of these, word for word: ${titles.map((title) => `"${title}"`).join(', ')}.`
      : 'Title: give the essay a fitting one.',
    'Form: plain text without markup; the title on the first line, a blank line between paragraphs.',
    'Write in the language of the description. State no fact, figure, source or quotation that you are not sure of.',
    'Answer with the essay alone: no preface, no word count, no remark about yourself.',
  ];
  return [
    { role: 'system', content: rules.join('\n') },
    { role: 'user', content: `The essay's topic and the points to cover:\n\n${text}` },
  ];
}
