import type { WritingMode, WritingOrder } from '../essay-writer.ts';
import { type EssayPurpose, readPurposeAndTitles } from '../purpose-and-titles.ts';

interface ChatMessage {
  role: 'system' | 'user';
  content: string;
}

/** The prompt for an order. */
export function composePrompt({ description, mode, wordCount }: WritingOrder): ChatMessage[] {
  const { purpose, titles, text } = readPurposeAndTitles(description);
  const rules = [
    'You write essays to order.',
    `Writing mode: ${modeInstructions[mode]}`,
    ...(purpose ? [`Writing purpose: ${purposeInstructions[purpose]}`] : []),
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

const modeInstructions: Readonly<Record<WritingMode, string>> = {
  Standard: 'Standard: a clear general essay in plain language.',
  Academic: 'Academic: formal and measured, one thesis, claims qualified, no contractions, no invented sources.',
  Professional: 'Professional: concise and practical, for readers at work who have to decide something.',
  Journalistic: 'Journalistic: a news report with a headline and a lead, the most important first, no invented quotes.',
};

const purposeInstructions: Readonly<Record<EssayPurpose, string>> = {
  narrative: 'narrative: tell it as one account, in order.',
  argumentative: 'argumentative: take a position and give reasons for it.',
  expository: 'expository: explain, and leave the judgement to the reader.',
  descriptive: 'descriptive: describe, so that the reader can picture it.',
};
