import { blockTag, htmlToText } from '../../../base/html-text.ts';
import { isObject, parseBoundedJson, parseJson } from '../../../base/parse-json.ts';

/** An essay of 2,000 words has up to 8,000 tokens, each in an event of two lines. */
const maxLines = 20_000;

/** The values of a body in parts, whose texts continue each other. */
export class Stream extends Array<unknown> {}

/** A text as what it contains: JSON, also in a fence, lines of JSON, server-sent events; or itself. */
export function parseText(text: string): unknown {
  const json = /^\s*(?:```\w*\s+)?([[{"][\s\S]*[\]}"])\s*(?:```\s*)?$/.exec(text)?.[1];
  return (json && parseBoundedJson(json)) ?? (text.startsWith('{') ? parseLines(text) : parseEvents(text)) ?? text;
}

/** Undefined if one is not an object of JSON: it may be cut off. */
function parseLines(text: string): Stream | undefined {
  const lines = text.split('\n', maxLines + 1);
  if (lines.length > maxLines) return undefined;
  const values = lines.flatMap((line) => (line.trim() === '' ? [] : [parseJson(line)]));
  return values.length > 1 && values.every(isObject) ? Stream.from(values) : undefined;
}

/** https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream */
function parseEvents(text: string): Stream | undefined {
  if (!/^(?:(?::.*|(?:event|id|retry):.*|[ \t\r]*)\n)*data:/.test(text)) return undefined;
  const lines = text.split('\n', maxLines + 1);
  if (lines.length > maxLines) return undefined;
  const events = text
    .split(/\r?\n\r?\n/)
    .map((event) => Array.from(event.matchAll(/^data: ?(.*)/gm), ([, line]) => line).join('\n'));
  const values = events.filter((data) => data !== '' && data.trim() !== '[DONE]');
  return Stream.from(values, (data) => parseJson(data) ?? data);
}

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
