/** A tag that begins or ends a block, such as a paragraph. */
export const blockTag =
  /<\/?(?:p|h[1-6]|div|section|article|header|footer|ul|ol|li|blockquote|table|tr|pre|hr)\b[^<>]*>/i;

/** The text of HTML or XML: without tags, comments and scripts, and with an empty line where a block begins or ends. */
export function htmlToText(html: string): string {
  return html
    .replaceAll(/<!--[^<]*?-->|<(script|style|title)\b[^<>]*>[^<]*<\/\1\s*>/gi, '')
    .replaceAll(/<br\b[^<>]*> ?/gi, '\n')
    .replaceAll(new RegExp(blockTag, 'gi'), '\n\n')
    .replaceAll(/<\/?[a-z!?][^<>]*>/gi, '')
    .replaceAll(/&(?:#(\d{1,6}|x[\da-f]{1,5})|([a-z]{2,4}));/gi, (reference, code: string | undefined, name: string) =>
      code ? String.fromCodePoint(Number(code.replace(/^x/i, '0x'))) : (entities[name] ?? reference),
    )
    .replaceAll(/ ?\n ?/g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };
