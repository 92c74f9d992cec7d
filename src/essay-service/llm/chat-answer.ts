import { setImmediate } from 'node:timers/promises';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { isObject, parseJson, readProperty } from '../../base/parse-json.ts';
import { countWords } from '../../base/words.ts';
import { EssayReader, WritingError } from './essay-reader.ts';

/** What the model wrote for the reader. */
export interface ChatAnswer {
  text: string;
  /** Whether the model did not finish it, so that it may end within a word. */
  isCutOff: boolean;
  /** Whether it is the essay of the object that the model was asked for, or plain text. */
  isEssayObject: boolean;
}

interface ReadOptions {
  /** The rest of a stream is not read after so many words of the essay, because it would be paid for and discarded. */
  enoughWords: number;
  maxBytes: number;
  /** Called with what is certain so far, whenever more of a stream was read. */
  onText?: ((text: string) => void) | undefined;
}

/**
 * Reads a chat completion: one JSON object, or a stream of server-sent events, whatever its content type says. How its bytes are cut
 * does not matter. What is not an answer is a failure, even if text came before.
 * @throws WritingError
 */
export async function readChatAnswer(body: AsyncIterable<Uint8Array>, options: ReadOptions): Promise<ChatAnswer> {
  const reader = new EssayReader();
  const end = await readUntilEnd(body, reader, options);
  const { text, isEssayObject, isCutOff } = reader.end();
  if (text === '') throw new WritingError('The language model wrote no essay.');
  return { text, isEssayObject, isCutOff: isCutOff || (end === 'cut-off' && !reader.isComplete) };
}

/** Until the model has ended, or has written enough. */
async function readUntilEnd(body: AsyncIterable<Uint8Array>, reader: EssayReader, options: ReadOptions) {
  const { enoughWords, maxBytes, onText } = options;
  let end: Part['end'] = null;
  let nextLength = 0;
  for await (const { event, data } of readEvents(body, maxBytes)) {
    if (event === whole) {
      const part = readPart(data, 'message');
      reader.add(part.text);
      return part.end;
    }
    if (data.trim() === '[DONE]') return end;
    if (data.trim() === '' || event === 'ping') continue;
    if (event === 'error') throw new WritingError(reportedFailure);
    const part = readPart(data, 'delta');
    reader.add(part.text);
    if (reader.length > maxLength)
      throw new WritingError(`The language model wrote more than ${maxLength} characters.`);
    end = part.end ?? end;
    if (reader.isComplete) return end;
    // Each time, all words so far are counted, so this becomes rarer as the essay grows.
    if (reader.text.length < nextLength) continue;
    nextLength = reader.text.length + Math.max(40, reader.text.length / 100);
    onText?.(reader.text);
    if (reader.text.length > enoughWords && countWords(reader.text) > enoughWords) return end;
  }
  if (end === null) throw new WritingError('The language model ended its answer too early.');
  return end;
}

/** A body that is not a stream is one event. */
async function* readEvents(body: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<EventSourceMessage> {
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  const decoder = new TextDecoder();
  let bytes = 0;
  let received = '';
  let isStream: boolean | undefined;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new WritingError(`The language model sent more than ${maxBytes} bytes.`);
    for (let start = 0; start < chunk.byteLength; start += bytesPerTurn) {
      // Chunks that have arrived already follow each other without other work of the process between them.
      await setImmediate();
      const text = decoder.decode(chunk.subarray(start, start + bytesPerTurn), { stream: true });
      received = isStream ? text : received + text;
      if (isStream === undefined && /\S/.test(received)) isStream = !/^\s*[{[]/.test(received);
      if (isStream) parser.feed(received);
      yield* events.splice(0);
    }
  }
  if (!isStream) yield { event: whole, data: received, id: undefined };
}

const whole = 'whole body';
/** Their events take a few milliseconds, during which the service answers no other request. */
const bytesPerTurn = 32_768;
/** In characters: much more than an essay and the reasoning before it. */
const maxLength = 200_000;

interface Part {
  text: string;
  /** Null if the answer goes on, or it is not known that it ended. */
  end: 'complete' | 'cut-off' | null;
}

/** Reads a whole answer, or an event of a stream. Unknown events (usage, vendor extensions) have no text. @throws WritingError */
function readPart(json: string, field: 'message' | 'delta'): Part {
  const body = parseJson(json);
  if (body === undefined) throw new WritingError('The language model sent something other than JSON.');
  const choices = listOf(readProperty(body, 'choices'));
  // Other choices are alternatives to the first one.
  const choice = choices.find((other) => !readProperty(other, 'index'));
  const message = readProperty(choice, field);
  const parts = [choice, message, readProperty(body, 'x_groq')];
  if (isFailure(body, choices.length === 0) || parts.some((part) => isFailure(part)))
    throw new WritingError(reportedFailure);
  const content = readProperty(message, 'content');
  const isRefused = listOf(content).some((part) => readProperty(part, 'type') === 'refusal');
  if (isRefused || readProperty(message, 'refusal'))
    throw new WritingError('The language model refused to write the essay.');
  if (field === 'message' && !isObject(message))
    throw new WritingError('The language model sent something other than a chat completion.');
  const end = readFinishReason(readProperty(choice, 'finish_reason'));
  return { text: isAside(message) ? '' : textOf(content), end };
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Whether an object reports a failure. A body without choices may do so in more ways, as those of some vendors and of proxies do. */
function isFailure(value: unknown, isBody = false): boolean {
  const read = (name: string) => readProperty(value, name);
  const [code, status] = [read('code'), read('status')];
  if (read('type') === 'error' || read('object') === 'error') return true;
  if ([read('error'), read('errors')].flat().some(Boolean)) return true;
  const codes = [read('error_code'), readProperty(read('base_resp'), 'status_code'), isBody && code];
  if (codes.some((one) => one && !/^(?:0|200|ok|success)$/i.test(String(one)))) return true;
  if (!isBody) return false;
  if (Number(status) >= 400 || failed.test(String(status).toLowerCase())) return true;
  const hasMessage = typeof read('message') === 'string' && read('message') !== '';
  return [read('detail')].flat().some(Boolean) || (hasMessage && (code ?? status ?? null) === null);
}

const reportedFailure = 'The language model reported a failure during its answer.';

/** Whether it is reasoning, or the message of a tool. */
function isAside(message: unknown): boolean {
  const kinds = ['channel', 'type', 'role'].map((name) => readProperty(message, name)).join(' ');
  const isThought = readProperty(readProperty(readProperty(message, 'extra_content'), 'google'), 'thought') === true;
  return isThought || /analysis|commentary|thought|think|reasoning|tool|function|user|system|developer/i.test(kinds);
}

/** Parts of another type, such as `thinking`, and thoughts are not text. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  const isText = (part: unknown) =>
    /^(?:output_)?text$/.test(String(readProperty(part, 'type') ?? 'text')) && readProperty(part, 'thought') !== true;
  const texts = listOf(content).map((part) => (isText(part) && readProperty(part, 'text')) || '');
  return texts.join('');
}

/** The reasons of other APIs are passed on by some endpoints, such as `MAX_TOKENS` and `SAFETY`. An unknown one is an end. */
function readFinishReason(reason: unknown): Part['end'] {
  if (typeof reason !== 'string' || reason === '') return null;
  const name = reason.toLowerCase().replaceAll(/[^a-z]/g, '');
  if (withheld.test(name)) throw new WritingError('The language model endpoint withheld the answer.');
  if (failed.test(name)) throw new WritingError(reportedFailure);
  if (/tool|function/.test(name))
    throw new WritingError('The language model called a tool instead of writing the essay.');
  return atLimit.test(name) ? 'cut-off' : 'complete';
}

// cspell:ignore spii
const withheld =
  /filter|safety|recitation|blocked|blocklist|prohibited|refusal|refused|moderation|policy|sensitive|guardrail|toxic|spii|flagged|violation/;
const failed =
  /error|fail|abort|cancel|time(?:d|)(?:out|limit)|ratelimit|quota|interrupt|insufficient|unavailable|overload|malformed|exception|network|disconnect/;
const atLimit = /length|limit|max|budget|window|exceed|truncated|incomplete|partial|unfinished/;
