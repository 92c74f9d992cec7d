import { Agent, type Dispatcher } from 'undici';
import { errorCodeOf } from '../../base/errors.ts';
import { countWords, createTopicCheck, findWordLimit } from '../../base/words.ts';
import { cutAtSentenceEnd, findEndOfSentences, keepWholeSentences } from '../sentences.ts';
import type { Writer, WritingMode, WritingOrder } from '../writing-order.ts';
import { type ChatAnswer, readChatAnswer } from './chat-answer.ts';
import { responseFormat, WritingError } from './essay-reader.ts';

interface LlmWriterOptions {
  /** Base URL of an OpenAI-compatible API (`.../v1`), or of its chat completions endpoint. */
  url: string;
  /** null if the endpoint requires none. */
  apiKey: string | null;
  model: string;
  /** For a whole essay, from the request to the last word. */
  timeoutMs: number;
  /**
   * Maximum size of the response. A streamed token takes about 250 bytes, so the default is enough for 2000 words and
   * about ten thousand tokens of reasoning.
   */
  maxAnswerBytes?: number;
}

/** Writes with a language model at an OpenAI-compatible chat endpoint. Rejects with a WritingError. */
export function createLlmWriter({
  url,
  apiKey,
  model,
  timeoutMs,
  maxAnswerBytes = 4_000_000,
}: LlmWriterOptions): Writer {
  const endpoint = /\/chat\/completions\/?$/.test(url) ? url : `${url.replace(/\/+$/, '')}/chat/completions`;
  const { origin, pathname, search } = new URL(endpoint);
  // The deadline covers the whole request, so undici's own timeouts are off.
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const headers = {
    'content-type': 'application/json',
    accept: 'text/event-stream, application/json',
    ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
  };

  let acceptsSchema = true;

  return { kind: 'model', write };

  async function write(order: WritingOrder, signal: AbortSignal, onText: OnText): Promise<string> {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), timeoutMs);
    try {
      const answer = await requestEssay(order, AbortSignal.any([signal, deadline.signal]), onText);
      const essay = cutToLimit(answer, order.wordCount);
      if (isRefusal(essay, answer.isEssayObject, order))
        throw new WritingError(
          'The language model refused to write the essay, or wrote a short text about something else.',
        );
      if (countWords(essay) * 10 >= order.wordCount) return essay;
      throw new WritingError('The language model wrote less than a tenth of the ordered words.');
    } catch (error) {
      if (signal.aborted) throw new WritingError('The caller disconnected.');
      if (deadline.signal.aborted) throw new WritingError(`The language model did not finish within ${timeoutMs} ms.`);
      // Messages of undici may contain the URL; the code (ECONNREFUSED, UND_ERR_SOCKET) is enough.
      if (error instanceof WritingError) throw error;
      const code = errorCodeOf(error);
      throw new WritingError(`The language model request failed${code === null ? '' : ` (${code})`}.`);
    } finally {
      clearTimeout(timer);
    }
  }

  async function requestEssay(order: WritingOrder, signal: AbortSignal, onText: OnText): Promise<ChatAnswer> {
    const response = await post(order, signal);
    try {
      if (response.statusCode !== 200) {
        throw new WritingError(`The language model endpoint responded with status ${response.statusCode}.`);
      }
      return await readChatAnswer(response.body, {
        enoughWords: order.wordCount + extraWords,
        maxBytes: maxAnswerBytes,
        onText: onText && createShownEssay(order.wordCount, onText),
      });
    } finally {
      // Closes the connection if the answer was not read completely, which stops the model.
      response.body.destroy();
    }
  }

  /** Asks for JSON by a schema, and without one where the endpoint refuses it: the prompt asks for the same object. */
  async function post(order: WritingOrder, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const format = acceptsSchema ? { response_format: responseFormat } : {};
    const body = JSON.stringify({ model, messages: composePrompt(order), stream: true, ...format });
    const response = await agent.request({ origin, path: pathname + search, method: 'POST', headers, body, signal });
    response.body.on('error', () => undefined);
    if (!acceptsSchema || !refusalsOfSchema.has(response.statusCode)) return response;
    response.body.destroy();
    acceptsSchema = false;
    return post(order, signal);
  }
}

/** Statuses with which endpoints refuse a parameter that they do not have. */
const refusalsOfSchema = new Set([400, 422, 501]);

type OnText = Parameters<Writer['write']>[2];

/** The model is stopped this many words after the limit: enough to find the end of the last sentence within it. */
const extraWords = 20;

/**
 * Shortens an answer to the ordered words. If it was cut off, only its whole sentences remain, and less than a third of the words
 * is a failure.
 * @throws WritingError
 */
function cutToLimit({ text, isCutOff }: Omit<ChatAnswer, 'isEssayObject'>, wordCount: number): string {
  if (!isCutOff || countWords(text) > wordCount) return cutAtSentenceEnd(text, wordCount);
  // The last sentence is whole if it has an end, unless that may be the point of a number such as "3.5".
  const kept = keepWholeSentences(`${text} …`, /\d\.$/.test(text) ? text.length - 1 : text.length);
  if (kept !== null && countWords(kept) * 3 >= wordCount) return kept;
  throw new WritingError('The language model was cut off before it had written a third of the ordered words.');
}

/** Shows an essay while it is written, in whole sentences. It begins with all these texts, whatever the model writes next. */
function createShownEssay(wordCount: number, onText: (part: string) => void): (text: string) => void {
  let shownUntil = 0;

  return (written) => {
    const text = written.trimStart();
    if (text.length > maxShown) return;
    const certain = text.slice(0, findWordLimit(text, wordCount));
    // Whether a full stop ends a sentence depends on the letter that follows.
    const lastLetter = certain.search(/[\p{L}\n][^\p{L}\n]*$/u);
    const part = certain.slice(shownUntil, Math.max(shownUntil, findEndOfSentences(certain, lastLetter)));
    shownUntil += part.length;
    if (part !== '') onText(part);
  };
}

/** In characters: much more than any essay. */
const maxShown = 60_000;

/** Whether a short text refuses the order or asks about it, or, outside the object, has nothing to do with the description. */
function isRefusal(text: string, isEssayObject: boolean, { description, wordCount }: WritingOrder): boolean {
  const words = countWords(text);
  if (words >= maxRefusalWords) return false;
  // Nothing is known of a text in another script.
  const mayBeOther = !isEssayObject && words * 2 < wordCount && isLatin(text) === isLatin(description);
  return refusal.test(text) || (mayBeOther && !createTopicCheck(description)(text));
}

const maxRefusalWords = 150;
const refusal =
  /^[^\p{L}]*(?:(?:[^.!?\n]{0,80}\b(?:I|we)\b[^.!?\n]{0,30}(?:can['’]?t|can ?not|won['’]t|unable|not able|must decline|not comfortable)\b[^.!?\n]{0,60}\b(?:help|assist|write|provide|create|generate|fulfil|comply|complete|produce|do (?:this|that|so)|support|discuss|continue|request)|as an? (?:ai|language model)\b|before I (?:write|begin|start|draft)\b|(?:could|can|would) you (?:please )?(?:tell|provide|clarify|share|specify|give me)\b))/iu;

function isLatin(text: string): boolean {
  const letters = text.match(/\p{L}/gu) ?? [];
  return letters.filter((letter) => /\p{Script=Latin}/u.test(letter)).length * 2 > letters.length;
}

interface ChatMessage {
  role: 'system' | 'user';
  content: string;
}

function composePrompt({ description, mode, wordCount }: WritingOrder): ChatMessage[] {
  const rules = [
    'You write essays to order.',
    `Writing mode: ${modeInstructions[mode]}`,
    `Length: close to ${wordCount} words and never more than ${wordCount}, title included.`,
    'Title: one of the title options of the description, word for word, if it has some; otherwise a fitting one.',
    'Form: plain text without markup; the title on the first line, a blank line between paragraphs.',
    'Write in the language of the description. State no fact, figure, source or quotation that you are not sure of.',
    'Answer with one JSON object, {"essay": "..."}, and nothing else: no preface, no word count, no remark about yourself.',
  ];
  return [
    { role: 'system', content: rules.join('\n') },
    { role: 'user', content: `The essay's topic and the points to cover:\n\n${description}` },
  ];
}

const modeInstructions: Readonly<Record<WritingMode, string>> = {
  Standard: 'Standard: a clear general essay in plain language.',
  Academic: 'Academic: formal and measured, one thesis, claims qualified, no contractions, no invented sources.',
  Professional: 'Professional: concise and practical, for readers at work who have to decide something.',
  Journalistic: 'Journalistic: a news report with a headline and a lead, the most important first, no invented quotes.',
  Detailed: 'Detailed: thorough, each point in depth and from several sides, with examples.',
};
