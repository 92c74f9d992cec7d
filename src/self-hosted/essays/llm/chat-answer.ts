import { createParser } from 'eventsource-parser';
import * as z from 'zod';
import { countWords } from '../words.ts';

/** A failure with a message for the operator, which contains no key, no URL and no text from the endpoint. */
export class WritingError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WritingError';
  }
}

export interface ChatAnswer {
  /** Without reasoning; only slightly longer than `enoughWords`. */
  text: string;
  /** Whether the model reached its own limit, so that the text may end within a word. */
  isCutOff: boolean;
}

/**
 * Reads a streamed answer. Stops after more than `enoughWords` words, because the rest would be paid for and discarded.
 * @throws WritingError
 */
export async function readStreamedAnswer(chunks: AsyncIterable<string>, enoughWords: number): Promise<ChatAnswer> {
  const text = createReasoningFilter();
  let finish: string | null = null;
  let isDone = false;
  // An upper bound: a word is counted once for each chunk that contains part of it.
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
  if (!isDone && finish === null) throw new WritingError('The language model ended its answer too early.');
  return toAnswer(text.finish(), finish);
}

/** Reads an answer that was not streamed. @throws WritingError */
export function readWholeAnswer(body: string): ChatAnswer {
  const choice = answerSchema.safeParse(readJson(body)).data?.choices[0];
  if (!choice) throw new WritingError('The language model sent something other than a chat completion.');
  const filter = createReasoningFilter();
  filter.push(textOf(choice.message.content));
  return toAnswer(filter.finish(), choice.finish_reason ?? null);
}

function toAnswer(text: string, finish: string | null): ChatAnswer {
  if (finish === 'content_filter') throw new WritingError('The language model endpoint withheld the answer.');
  if (text.trim() === '') throw new WritingError('The language model wrote no text.');
  return { text, isCutOff: finish === 'length' };
}

/** Unknown chunks (usage, tool calls, vendor extensions) are ignored: they contain no text. */
function readChunk(data: string): { text: string; finish: string | null } {
  const chunk = readJson(data);
  if (failureSchema.safeParse(chunk).success) {
    throw new WritingError('The language model reported a failure during its answer.');
  }
  const choice = chunkSchema.safeParse(chunk).data?.choices[0];
  return { text: textOf(choice?.delta?.content), finish: choice?.finish_reason ?? null };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new WritingError('The language model sent something other than JSON.');
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

interface ReasoningFilter {
  push(piece: string): void;
  /** The text so far, without reasoning. The last few characters may be missing until they cannot be part of a tag. */
  text(): string;
  /** Ends the stream and returns the whole text. */
  finish(): string;
}

/** Removes `<think>...</think>` blocks from a stream; some local models write them into their answer. */
function createReasoningFilter(): ReasoningFilter {
  let visible = '';
  let pending = '';
  let isReasoning = false;

  return {
    push(piece) {
      pending += piece;
      while (consumeTag());
      const settled = Math.max(0, pending.length - heldLength);
      if (!isReasoning) visible += pending.slice(0, settled);
      pending = pending.slice(settled);
    },
    text: () => visible,
    finish() {
      if (!isReasoning) visible += pending;
      pending = '';
      return visible;
    },
  };

  /** Consumes the text up to and including the first tag; false if there is none. */
  function consumeTag(): boolean {
    const end = closing.exec(pending);
    const start = isReasoning ? null : opening.exec(pending);
    const tag = start && (!end || start.index < end.index) ? start : end;
    if (!tag) return false;
    // If the prompt template contains the opening tag, the stream has only the closing one: all text before it is reasoning.
    if (tag === start) visible += pending.slice(0, tag.index);
    else if (!isReasoning) visible = '';
    isReasoning = tag === start;
    pending = pending.slice(tag.index + tag[0].length);
    return true;
  }
}

const opening = /<think(?:ing)?>/i;
const closing = /<\/think(?:ing)?>/i;
/** The end of the text may be an incomplete tag: one character less than the longest tag. */
const heldLength = '</thinking>'.length - 1;
