import { isObject, parseJson, readProperty } from '../../base/parse-json.ts';

/** A failure with a message for the operator, which contains no key, no URL and no text from the endpoint. */
export class WritingError extends Error {
  override name = 'WritingError';
}

/** The object that a model is asked for, as `response_format` of the chat endpoint. */
export const responseFormat = {
  type: 'json_schema',
  json_schema: {
    name: 'essay',
    strict: true,
    schema: {
      type: 'object',
      properties: { essay: { type: 'string', description: 'The title, an empty line, and the paragraphs.' } },
      required: ['essay'],
      additionalProperties: false,
    },
  },
} as const;

/**
 * Reads the essay from what a model writes, piece by piece: `{ "essay": "..." }`, also after reasoning and within a code fence. How the
 * pieces are cut does not matter.
 */
export class EssayReader {
  /** What was written before the essay began. */
  #before = '';
  /** The beginning of an escape sequence that is not complete. */
  #escape = '';
  #text = '';
  #state: 'before' | 'essay' | 'after' = 'before';

  /** What was read of the essay: all that follows is added to it. Empty while it is not known whether the model writes the object. */
  get text(): string {
    return this.#text;
  }

  /** Whether the string of the essay has ended. */
  get isComplete(): boolean {
    return this.#state === 'after';
  }

  /** The number of characters that were received. */
  get length(): number {
    return this.#before.length + this.#text.length;
  }

  add(piece: string): void {
    if (this.#state !== 'before') {
      this.#addString(piece);
      return;
    }
    this.#before += piece;
    // Most pieces have no quotation mark, and only one can begin the string.
    if (!piece.includes('"')) return;
    const [start] = essayStart.exec(withoutReasoning(this.#before)) ?? [];
    if (start === undefined) return;
    this.#state = 'essay';
    this.#addString(withoutReasoning(this.#before).slice(start.length));
    this.#before = '';
  }

  #addString(piece: string): void {
    if (this.#state === 'after') return;
    const received = this.#escape + piece;
    let end = 0;
    for (const { 0: part, index } of received.matchAll(stringPart)) {
      if (index !== end) break;
      end = index + part.length;
      if (part === '"') this.#state = 'after';
      if (part === '"') return;
      this.#text += part.startsWith('\\') ? readEscape(part) : part;
    }
    this.#escape = received.slice(end);
  }

  /**
   * Reads the answer after its last piece. A text that is not JSON is the essay as it is, unless it has tokens of a chat template.
   * @throws WritingError if there is no essay, or something else in its place
   */
  end(): { text: string; isEssayObject: boolean; isCutOff: boolean } {
    if (this.#state !== 'before') {
      return { text: this.#text.trim(), isEssayObject: true, isCutOff: this.#state === 'essay' };
    }
    const written = withoutReasoning(this.#before).trim();
    const json = parseJson(written.replaceAll(/^```(?:json)?\s*|\s*```$/g, ''));
    const essay = readProperty(json, 'essay');
    if (typeof essay === 'string') return { text: essay.trim(), isEssayObject: true, isCutOff: false };
    if (isObject(json) || /^(?:[{[]|```)|<\|?\/?[a-z_]{2,20}\|?>|\[\/?[A-Z_]{3,20}\]/i.test(written)) {
      throw new WritingError(
        'The language model wrote something other than the object with the essay that it was asked for.',
      );
    }
    return { text: written, isEssayObject: false, isCutOff: false };
  }
}

const essayStart = /^\s*(?:```(?:json)?\s*)?\{\s*"essay"\s*:\s*"/i;
const stringPart = /[^"\\]+|\\(?:u[\da-f]{4}|[^u])|"/gis;

/** Reasoning may have been opened in the prompt. If it is not closed, nothing follows it. */
function withoutReasoning(written: string): string {
  const end = written.lastIndexOf('</think>');
  if (end !== -1) return written.slice(end + '</think>'.length);
  return /^\s*<think>/.test(written) ? '' : written;
}

function readEscape(sequence: string): string {
  const character = parseJson(`"${sequence}"`);
  // Some models escape what needs no escape, such as an apostrophe.
  return typeof character === 'string' ? character : sequence.slice(1);
}
