import { type Dispatcher, request } from 'undici';
import { errorCodeOf } from '../../../errors.ts';
import type { EssayOrder, EssayWriter } from '../essay-writer.ts';
import { countWords, cutAtSentenceEnd } from '../words.ts';
import { type ChatAnswer, readStreamedAnswer, readWholeAnswer, WritingError } from './chat-answer.ts';
import { composePrompt } from './essay-prompt.ts';

interface LlmWriterOptions {
  /** Base URL of an OpenAI-compatible API (`.../v1`), or its chat completions endpoint itself. */
  url: string;
  /** null where the endpoint asks for none. */
  apiKey: string | null;
  model: string;
  /** Deadline of a whole essay, from the call to its last word, in milliseconds. */
  timeoutMs: number;
  /**
   * Largest answer on the wire, in bytes. A streamed token takes about 250, so the default leaves room for 2000 words
   * and some ten thousand tokens of reasoning before them.
   */
  maxAnswerBytes?: number;
  dispatcher?: Dispatcher;
}

/** Words past the limit at which the model is stopped: enough to see where the last sentence within it ends. */
const surplusWords = 20;

/** Writes with a language model behind any OpenAI-compatible chat endpoint. Rejects with a WritingError. */
export function createLlmWriter({
  url,
  apiKey,
  model,
  timeoutMs,
  maxAnswerBytes = 4_000_000,
  dispatcher,
}: LlmWriterOptions): EssayWriter {
  const endpoint = /\/chat\/completions\/?$/.test(url) ? url : `${url.replace(/\/+$/, '')}/chat/completions`;
  const headers = {
    'content-type': 'application/json',
    accept: 'text/event-stream, application/json',
    ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
  };

  return { write };

  async function write(order: EssayOrder, signal: AbortSignal): Promise<string> {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), timeoutMs);
    try {
      const answer = await ask(order, AbortSignal.any([signal, deadline.signal]));
      return cutToOrder(answer, order.wordCount);
    } catch (error) {
      if (signal.aborted) throw new WritingError('The writing was called off.');
      if (deadline.signal.aborted) throw new WritingError(`The language model was not done within ${timeoutMs} ms.`);
      // What undici says may quote the URL; the code alone (ECONNREFUSED, UND_ERR_SOCKET) says what happened.
      if (error instanceof WritingError) throw error;
      const code = errorCodeOf(error);
      throw new WritingError(`The language model was lost${code === null ? '' : ` (${code})`}.`);
    } finally {
      clearTimeout(timer);
    }
  }

  async function ask(order: EssayOrder, signal: AbortSignal): Promise<ChatAnswer> {
    const body = JSON.stringify({ model, messages: composePrompt(order), stream: true });
    // The deadline bounds the whole call, so undici's own timers for its parts are off.
    const timers = { headersTimeout: 0, bodyTimeout: 0 };
    const response = await request(endpoint, {
      method: 'POST',
      headers,
      body,
      signal,
      ...timers,
      ...(dispatcher ? { dispatcher } : {}),
    });
    response.body.on('error', () => undefined);
    try {
      if (response.statusCode !== 200) {
        throw new WritingError(`The language model endpoint refused with status ${response.statusCode}.`);
      }
      const chunks = decode(response.body, maxAnswerBytes);
      if (/^text\/event-stream\b/i.test(String(response.headers['content-type'] ?? ''))) {
        return await readStreamedAnswer(chunks, order.wordCount + surplusWords);
      }
      return readWholeAnswer(await join(chunks));
    } finally {
      // Closes the connection where the answer was not read to its end, which stops the model.
      response.body.destroy();
    }
  }
}

async function* decode(body: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new WritingError(`The language model wrote more than ${maxBytes} bytes.`);
    yield decoder.decode(chunk, { stream: true });
  }
  yield decoder.decode();
}

async function join(chunks: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const chunk of chunks) text += chunk;
  return text;
}

/** A text that its model did not finish loses its last word too: it may be half of one. */
function cutToOrder({ text, isCutOff }: ChatAnswer, wordCount: number): string {
  const most = isCutOff ? Math.min(wordCount, Math.max(1, countWords(text) - 1)) : wordCount;
  return cutAtSentenceEnd(text, most);
}
