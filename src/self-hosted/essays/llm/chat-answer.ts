import { createParser } from 'eventsource-parser';
import { z } from 'zod';
import { countWords } from '../words.ts';
import { createReasoningFilter } from './reasoning-filter.ts';

/** A failure worth its own words to an operator. It holds no key, no URL and nothing the endpoint said. */
export class WritingError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WritingError';
  }
}

export interface ChatAnswer {
  /** What the model wrote, without its reasoning; not more than a little above `enoughWords`. */
  text: string;
  /** Whether the model was stopped by its own limit, so that the text may end within a word. */
  isCutOff: boolean;
}

/**
 * Reads a streamed answer. It stops as soon as there are more than `enoughWords` words, since the rest would be paid
 * for and thrown away. @throws WritingError
 */
export async function readStreamedAnswer(chunks: AsyncIterable<string>, enoughWords: number): Promise<ChatAnswer> {
  const text = createReasoningFilter();
  let finish: string | null = null;
  let isDone = false;
  // Counts a word once for each piece it arrives in, so it runs ahead of the true number and never behind it.
  let wordsAtMost = 0;
  const parser = createParser({
    onEvent: ({ data }) => {
      if (isDone) return;
      if (data.trim() === '[DONE]') {
        isDone = true;
        return;
      }
      const chunk = readChunk(data);
      finish = chunk.finish ?? finish;
      text.push(chunk.text);
      wordsAtMost += countWords(chunk.text);
    },
  });

  for await (const chunk of chunks) {
    parser.feed(chunk);
    if (isDone) break;
    if (wordsAtMost <= enoughWords) continue;
    wordsAtMost = countWords(text.text());
    if (wordsAtMost > enoughWords) return { text: text.text(), isCutOff: false };
  }
  if (!isDone && finish === null) throw new WritingError('The language model broke off in the middle of its answer.');
  return finished(text.finish(), finish);
}

/** Reads an answer that came whole. @throws WritingError */
export function readWholeAnswer(body: string): ChatAnswer {
  const choice = answerSchema.safeParse(readJson(body)).data?.choices[0];
  if (!choice) throw new WritingError('The language model answered something that is not a chat completion.');
  const filter = createReasoningFilter();
  filter.push(textOf(choice.message.content));
  return finished(filter.finish(), choice.finish_reason ?? null);
}

function finished(text: string, finish: string | null): ChatAnswer {
  if (finish === 'content_filter') throw new WritingError('The language model endpoint withheld the answer.');
  if (text.trim() === '') throw new WritingError('The language model wrote nothing.');
  return { text, isCutOff: finish === 'length' };
}

/** Chunks of a shape we do not know (usage, tool calls, vendors' own) carry no text and do no harm. */
function readChunk(data: string): { text: string; finish: string | null } {
  const chunk = readJson(data);
  if (failureSchema.safeParse(chunk).success) {
    throw new WritingError('The language model reported a failure in the middle of its answer.');
  }
  const choice = chunkSchema.safeParse(chunk).data?.choices[0];
  return { text: textOf(choice?.delta?.content), finish: choice?.finish_reason ?? null };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new WritingError('The language model answered something that is not JSON.');
  }
}

function textOf(content: z.infer<typeof contentSchema> | null | undefined): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => part.text ?? '').join('');
}

const contentSchema = z.union([z.string(), z.array(z.object({ text: z.string().optional().catch(undefined) }))]);
const finishSchema = z.string().nullish().catch(null);
const chunkSchema = z.object({
  choices: z.array(
    z.object({ delta: z.object({ content: contentSchema.nullish() }).nullish(), finish_reason: finishSchema }),
  ),
});
const answerSchema = z.object({
  choices: z.array(z.object({ message: z.object({ content: contentSchema }), finish_reason: finishSchema })),
});
const failureSchema = z.object({ error: z.union([z.string(), z.looseObject({})]) });
