import { blockTag, htmlToText } from '../../../base/html-text.ts';
import { isObject, parseBoundedJson } from '../../../base/parse-json.ts';

/** An essay of 2,000 words has up to 8,000 tokens, each in an event of two lines, or in one of JSON. */
const maxLines = 20_000;

/** The values of a body in parts, whose texts continue each other. */
export class Stream extends Array<unknown> {}

/** Reads the texts of one body as what they contain. */
export class TextParser {
  #refused = 0;

  /** Whether it has refused so many texts that it reads no more: to refuse a text that looks like JSON takes 20 µs. */
  get isExhausted(): boolean {
    return this.#refused >= maxRefused;
  }

  /** JSON, also in a fence, lines of JSON, server-sent events; or the text itself. */
  parse(text: string): unknown {
    if (this.isExhausted) return text;
    const json = /^\s*(?:```\w*\s+)?([[{"][\s\S]*[\]}"])\s*(?:```\s*)?$/.exec(text)?.[1];
    return (
      (json && this.#parseJson(json)) ??
      (text.startsWith('{') ? this.#parseLines(text) : this.#parseEvents(text)) ??
      text
    );
  }

  /** An object, a list or a text; undefined for anything else. */
  #parseJson(text: string): unknown {
    if (this.isExhausted || !isJsonLike(text)) return undefined;
    const value = parseBoundedJson(text);
    if (value === undefined) this.#refused += 1;
    return value;
  }

  /** Undefined if one is not an object of JSON: it may be cut off. */
  #parseLines(text: string): Stream | undefined {
    const all = text.split('\n', maxLines + 1);
    const lines = all.filter((line) => line.trim() !== '');
    if (all.length > maxLines || lines.length < 2 || lines.length > maxLines / 2) return undefined;
    const values = new Stream();
    for (const line of lines) {
      const value = this.#parseJson(line);
      if (!isObject(value)) return undefined;
      values.push(value);
    }
    return values;
  }

  /** https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream */
  #parseEvents(text: string): Stream | undefined {
    if (!/^(?:(?::.*|(?:event|id|retry):.*|[ \t\r]*)\n)*data:/.test(text)) return undefined;
    const lines = text.split('\n', maxLines + 1);
    if (lines.length > maxLines) return undefined;
    const events = readEvents(lines).filter((data) => data !== '' && data.trim() !== '[DONE]');
    const values = events.map((data) => this.#parseJson(data));
    // Beside words, a number is a word; beside objects, it is not a part of the text.
    const isText = values.every((value) => value === undefined);
    const stream = new Stream();
    for (const [index, data] of events.entries())
      stream.push(values[index] ?? (isText || !scalar.test(data) ? data : null));
    return stream;
  }
}

/** The data of each event. */
function readEvents(lines: readonly string[]): string[] {
  const events: string[] = [];
  let data: string | null = null;
  for (const line of lines) {
    const end = line.endsWith('\r') ? line.length - 1 : line.length;
    if (end === 0 && data !== null) {
      events.push(data);
      data = null;
    } else if (line.startsWith('data:')) {
      const part = line.slice(line[5] === ' ' ? 6 : 5, end);
      data = data === null ? part : `${data}\n${part}`;
    }
  }
  return data === null ? events : [...events, data];
}

/** Whether it begins and ends as an object, a list or a text of JSON does. */
function isJsonLike(text: string): boolean {
  const json = text.trim();
  return json.length > 1 && jsonEnds.includes(`${json[0]}${json.at(-1)}`);
}

const jsonEnds = ['{}', '[]', '""'];
const maxRefused = 200;
const scalar = /^\s*(?:-?\d[\d.eE+-]*|true|false|null)\s*$/;

/** The text of a page or fragment of HTML or XML, with its paragraphs; any other text as it is. */
export function readHtml(text: string): string {
  const ends = text.match(/<br\s{0,9}\/?>|<\/(?:p|h[1-6]|li)>/gi)?.length ?? 0;
  if (!htmlStart.test(text) && ends < 2) return text;
  const main = ['essay', 'article', 'main', 'body'].reduce((html, tag) => contentOf(html, tag), text);
  // In XML, white space is a part of the text.
  return htmlToText(blockTag.test(main) ? main.replaceAll(/\s+/g, ' ') : main);
}

const htmlStart = /^\s*<(?:\?xml|!doctype|html|head|body|div|article|section|main|p|h[1-6]|ul|ol|essay)\b/i;

/** The content of the first element with this tag; the whole text if there is none. */
function contentOf(html: string, tag: string): string {
  const open = new RegExp(`<${tag}\\b[^<>]*>`, 'i').exec(html);
  const end = html.toLowerCase().lastIndexOf(`</${tag}>`);
  return open !== null && end > open.index ? html.slice(open.index + open[0].length, end) : html;
}
