import { setImmediate } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import { parseJson } from '../../base/parse-json.ts';
import { countWords } from '../../base/words.ts';
import { cleanAnswer } from './essay-text.ts';

/** A failure with a message for the operator, which contains no key, no URL and no text from the endpoint. */
export class WritingError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WritingError';
  }
}

export interface ChatAnswer {
  /** Only what was written for the reader: see `cleanAnswer`. */
  text: string;
  /** Whether the model did not finish the text, so that it may end within a word. */
  isCutOff: boolean;
  /** Whether the model marked it as the essay. */
  isTagged: boolean;
}

interface ReadOptions {
  /** The rest of a stream is not read after so many words of the answer, because it would be paid for and discarded. */
  enoughWords: number;
  maxBytes: number;
  /** Called with all that was written so far, whenever more of a stream has arrived. */
  onWritten?: ((written: string) => void) | undefined;
}

/**
 * Reads a chat completion: one JSON object, or a stream of server-sent events, whatever its content type says. How its bytes are cut
 * does not matter. What is not an answer is a failure, even if text came before.
 * @throws WritingError
 */
export async function readChatAnswer(body: AsyncIterable<Uint8Array>, options: ReadOptions): Promise<ChatAnswer> {
  const stream = createStreamReader(options);
  let head = '';
  let isWhole: boolean | null = null;
  for await (const chunk of decode(body, options.maxBytes)) {
    if (isWhole !== false) head += chunk;
    isWhole ??= /^[\s\ufeff]*$/.test(head) ? null : /^[\s\ufeff]*[{[]/.test(head);
    if (isWhole !== false) continue;
    stream.feed(head === '' ? chunk : head);
    head = '';
    if (stream.isDone()) break;
  }
  const { text, end } = isWhole === false ? stream.end() : readWhole(head);
  const cleaned = cleanAnswer(text, true);
  // Reasoning that is not closed is where the text would go on.
  const isCutOff = cleaned.endsIn === 'thought' || (end === 'cut-off' && cleaned.endsIn === 'text');
  if (cleaned.text !== '') return { text: cleaned.text, isCutOff, isTagged: cleaned.isTagged };
  throw new WritingError(
    `The language model wrote ${text.trim() === '' ? 'no text' : 'no essay, only reasoning or markers'}.`,
  );
}

async function* decode(body: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let bytesInTurn = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new WritingError(`The language model sent more than ${maxBytes} bytes.`);
    for (let start = 0; start < chunk.byteLength; start += bytesPerTurn) {
      const piece = chunk.subarray(start, start + bytesPerTurn);
      bytesInTurn += piece.byteLength;
      if (bytesInTurn > bytesPerTurn) {
        // Chunks that have arrived already follow each other without other work of the process between them.
        await setImmediate();
        bytesInTurn = piece.byteLength;
      }
      yield decoder.decode(piece, { stream: true });
    }
  }
  yield decoder.decode();
}

/** Their events take a few milliseconds, during which the service answers no other request. */
const bytesPerTurn = 32_768;

function readWhole(body: string): Pick<Part, 'text' | 'end'> {
  const part = readPart(body, 'message');
  if (!part) throw new WritingError('The language model sent something other than a chat completion.');
  return part;
}

function createStreamReader({ enoughWords, onWritten }: ReadOptions) {
  const written = createWritten();
  let end: Part['end'] = null;
  let isDone = false;
  let isReasoningSeparate = false;
  let checkedAt = firstCheckAt;
  const parser = createParser({ onEvent });

  return {
    feed: (chunk: string) => parser.feed(chunk),
    isDone: () => isDone,
    end(): Pick<Part, 'text' | 'end'> {
      if (!isDone && end === null) throw new WritingError('The language model ended its answer too early.');
      return { text: written.text(), end };
    },
  };

  function onEvent({ event, data }: { event?: string | undefined; data: string }): void {
    if (isDone || data.trim() === '' || event === 'ping') return;
    if (event === 'error') throw reportedFailure();
    isDone = data.trim() === '[DONE]';
    // Unknown events (usage, vendor extensions) are ignored: they contain no text.
    const part = isDone ? null : readPart(data, 'delta');
    if (!part) return;
    const text = written.add(part.text);
    if (text.length > maxLength) throw new WritingError(`The language model wrote more than ${maxLength} characters.`);
    end = part.end ?? end;
    isReasoningSeparate ||= part.hasReasoning;
    if (written.isCertain()) onWritten?.(text);
    if (text.length < checkedAt) return;
    // Each check cleans the whole text again, so checks become rarer as it grows.
    checkedAt = text.length + Math.max(firstCheckAt / 2, text.length / 8);
    if (!isEnough(text)) return;
    isDone = true;
    end = 'complete';
  }

  function isEnough(text: string): boolean {
    const cleaned = cleanAnswer(text, false);
    if (cleaned.state === 'ended') return true;
    const mayBeReasoning = cleaned.state === 'open' && !isReasoningSeparate;
    return countWords(cleaned.text) > enoughWords + (mayBeReasoning ? maxReasoningWords : 0);
  }
}

/**
 * The text of deltas. Those of some servers repeat all text so far: each is longer than the one before, and begins with it. A few
 * characters may do so by chance, and a model may write a sentence twice.
 */
function createWritten() {
  let text = '';
  let last = '';
  let repeats = 0;

  return {
    text: () => text,
    /** Whether the second delta does not begin with the first one. */
    isCertain: () => repeats !== 1,
    add(delta: string): string {
      if (delta === '') return text;
      const isLonger = last !== '' && delta.length > last.length && delta.startsWith(last);
      repeats = isLonger && repeats >= 0 ? repeats + 1 : last === '' ? 0 : -1;
      const isRepeated = repeats > 1 || (text.length >= 200 && delta.startsWith(text));
      text = isRepeated ? delta : text + delta;
      last = delta;
      return text;
    },
  };
}

/** In characters. */
const firstCheckAt = 1_000;

/**
 * Some prompt templates contain the opening tag, so that reasoning looks like an essay until its closing tag. So a text without any
 * sign of reasoning is read to its end, or until it is so much too long.
 */
const maxReasoningWords = 8_000;

/** In characters: much more than an essay and its reasoning, and cleaned within a few milliseconds. */
const maxLength = 1_000_000;

/** A whole answer, or an event of a stream. */
interface Part {
  text: string;
  /** Whether reasoning came in a field of its own. */
  hasReasoning: boolean;
  /** Null if the answer goes on, or it is not known that it ended. */
  end: 'complete' | 'cut-off' | null;
}

/** Null if there is no choice in it. @throws WritingError */
function readPart(json: string, field: 'message' | 'delta'): Part | null {
  const body = parseJson(json);
  if (body === undefined) throw new WritingError('The language model sent something other than JSON.');
  const choices = readList(body, 'choices');
  // Other choices are alternatives to the first one.
  const choice = choices.find((other) => [undefined, null, 0].includes(readField(other, 'index') as null));
  const message = readField(choice, field);
  const parts = [choice, message, readField(body, 'x_groq')];
  if (isFailure(body, choices.length === 0) || parts.some((part) => isFailure(part))) throw reportedFailure();
  if (isRefusal(message)) throw new WritingError('The language model refused to write the essay.');
  const end = readFinishReason(readField(choice, 'finish_reason'));
  if (!isObject(message) && (field === 'message' || end === null)) return null;
  const isForReader = !isAside(message);
  const hasReasoning = !isForReader || ['reasoning_content', 'reasoning'].some((name) => isPresent(message, name));
  return { text: isForReader ? readText(readField(message, 'content')) : '', hasReasoning, end };
}

/* The fields are read without a schema: thousands of events may arrive at once. */

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function readField(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name as never] : undefined;
}

function readList(value: unknown, name: string): unknown[] {
  const list = readField(value, name);
  return Array.isArray(list) ? list : [];
}

function isPresent(value: unknown, name: string): boolean {
  const field = readField(value, name);
  return Array.isArray(field) ? field.length > 0 : Boolean(field);
}

/** Whether an object reports a failure. A body without choices may do so in more ways, as those of some vendors and of proxies do. */
function isFailure(value: unknown, isBody = false): boolean {
  const [type, object, code, status, message] = ['type', 'object', 'code', 'status', 'message'].map((name) =>
    readField(value, name),
  );
  if (type === 'error' || object === 'error' || isPresent(value, 'error') || isPresent(value, 'errors')) return true;
  const codes = [
    readField(value, 'error_code'),
    readField(readField(value, 'base_resp'), 'status_code'),
    isBody && code,
  ];
  if (codes.some((one) => one && !['0', '200', 'ok', 'success'].includes(String(one).toLowerCase()))) return true;
  if (!isBody) return false;
  const isFailedStatus = Number(status) >= 400 || (isString(status) && failed.test(status.toLowerCase()));
  return (
    isFailedStatus ||
    isPresent(value, 'detail') ||
    (isString(message) && message !== '' && (code ?? status ?? null) === null)
  );
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function reportedFailure(): WritingError {
  return new WritingError('The language model reported a failure during its answer.');
}

/** Whether it is reasoning, or the message of a tool. */
function isAside(message: unknown): boolean {
  const [channel, type, role] = ['channel', 'type', 'role'].map((name) => readField(message, name));
  return (
    (isString(channel) && /analysis|commentary|thought|think|reasoning/i.test(channel)) ||
    (isString(type) && /reasoning|think|thought|tool|function/i.test(type)) ||
    (isString(role) && /^(?:tool|function|user|system|developer)$/i.test(role)) ||
    readField(readField(readField(message, 'extra_content'), 'google'), 'thought') === true
  );
}

/** Parts of another type, such as `thinking`, and thoughts are not text. */
function readText(content: unknown): string {
  if (isString(content)) return content;
  if (!Array.isArray(content)) return '';
  return content
    .filter((part) => [undefined, 'text', 'output_text'].includes(readField(part, 'type') as undefined))
    .filter((part) => readField(part, 'thought') !== true)
    .map((part) => readField(part, 'text'))
    .filter(isString)
    .join('');
}

function isRefusal(message: unknown): boolean {
  const refusal = readField(message, 'refusal');
  if (isString(refusal) && refusal !== '') return true;
  return readList(message, 'content').some((part) => readField(part, 'type') === 'refusal');
}

/** The reasons of other APIs are passed on by some endpoints, such as `MAX_TOKENS` and `SAFETY`. An unknown one is an end. */
function readFinishReason(reason: unknown): Part['end'] {
  if (!isString(reason) || reason === '') return null;
  const name = reason.toLowerCase().replaceAll(/[^a-z]/g, '');
  if (withheld.test(name)) throw new WritingError('The language model endpoint withheld the answer.');
  if (failed.test(name)) throw reportedFailure();
  if (toolCalled.test(name)) throw new WritingError('The language model called a tool instead of writing the essay.');
  return atLimit.test(name) ? 'cut-off' : 'complete';
}

// cspell:ignore spii
const withheld =
  /filter|safety|recitation|blocked|blocklist|prohibited|refusal|refused|moderation|policy|sensitive|guardrail|toxic|spii|flagged|violation/;
const failed =
  /error|fail|abort|cancel|time(?:d|)(?:out|limit)|ratelimit|quota|interrupt|insufficient|unavailable|overload|malformed|exception|network|disconnect/;
const toolCalled = /tool|function/;
const atLimit = /length|limit|max|budget|window|exceed|truncated|incomplete|partial|unfinished/;
