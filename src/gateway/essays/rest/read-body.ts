import { isObject, parseJson } from '../../../base/parse-json.ts';

/** The values of a body in parts, whose texts continue each other. */
export class Stream extends Array<unknown> {}

/** A text as what it contains: JSON, also in a fence, lines of JSON, server-sent events; or itself. */
export function parseText(text: string): unknown {
  const json = /^\s*(?:```\w*\s+)?([[{"][\s\S]*[\]}"])\s*(?:```\s*)?$/.exec(text)?.[1];
  const parsed = json === undefined ? undefined : parseJson(json);
  if (parsed !== undefined) return parsed;
  if (text.startsWith('{')) return parseLines(text) ?? text;
  return text.includes('data:') ? (parseEvents(text) ?? text) : text;
}

/** https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream */
function parseEvents(text: string): Stream | undefined {
  if (!/^(?:(?::.*|(?:event|id|retry):.*|[ \t\r]*)\n)*data:/.test(text)) return undefined;
  const events = text.split(/\r?\n\r?\n/).map((event) => {
    const lines = event.split(/\r?\n/).filter((line) => line.startsWith('data:'));
    return lines.map((line) => line.slice(5).replace(/^ /, '')).join('\n');
  });
  const values = events.filter((data) => data !== '' && data.trim() !== '[DONE]');
  return Stream.from(values, (data) => parseJson(data) ?? data);
}

/** Undefined if one is not an object of JSON: it may be cut off. */
function parseLines(text: string): Stream | undefined {
  const values = text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [parseJson(line)]));
  return values.length > 1 && values.every(isObject) ? Stream.from(values) : undefined;
}

/** The text of a page or fragment of HTML or XML, with its paragraphs; any other text as it is. */
export function readHtml(text: string): string {
  const ends = text.match(/<br\s{0,9}\/?>|<\/(?:p|h[1-6]|li)>/gi)?.length ?? 0;
  if (!htmlStart.test(text) && ends < 2) return text;
  const main = ['essay', 'article', 'main', 'body'].reduce((html, tag) => contentOf(html, tag), text);
  // In XML, white space is a part of the text.
  const html = block.test(main) ? main.replaceAll(/\s+/g, ' ') : main;
  return html
    .replaceAll(/<!--[^<]*?-->|<(script|style|title)\b[^<>]*>[^<]*<\/\1>/gi, '')
    .replaceAll(/<br\b[^<>]*> ?/gi, '\n')
    .replaceAll(new RegExp(block, 'gi'), '\n\n')
    .replaceAll(/<\/?[a-z!?][^<>]*>/gi, '')
    .replaceAll(/&#(\d{1,6}|x[\da-f]{1,5});/gi, (_, code: string) =>
      String.fromCodePoint(Number(code.replace(/^x/i, '0x'))),
    )
    .replaceAll(/&(amp|lt|gt|quot|apos|nbsp);/g, (_, name: string) => entities[name] ?? '')
    .replaceAll(/ ?(\n) ?/g, '$1')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

const htmlStart = /^\s*<(?:\?xml|!doctype|html|head|body|div|article|section|main|p|h[1-6]|ul|ol|essay)\b/i;
const block = /<\/?(?:p|h[1-6]|div|section|header|footer|ul|ol|li|blockquote|table|tr|pre|hr)\b[^<>]*>/i;

/** The content of the first element with this tag; the whole text if there is none. */
function contentOf(html: string, tag: string): string {
  const open = new RegExp(`<${tag}\\b[^<>]*>`, 'i').exec(html);
  const end = html.toLowerCase().lastIndexOf(`</${tag}>`);
  return open !== null && end > open.index ? html.slice(open.index + open[0].length, end) : html;
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };
