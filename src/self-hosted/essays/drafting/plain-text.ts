/** Removes HTML and Markdown from a description. Lines and list item marks stay. */
export function toPlainText(description: string): string {
  const decoded = description
    .slice(0, maxLength)
    .replace(/&(?:amp|lt|gt|quot|#39|apos|nbsp);/g, (entity) => entities[entity] ?? entity);
  const plain = replacements.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), decoded);
  return unwrapLines(plain.replace(/[^\S\n]+/g, ' ').replace(/ ?\n ?/g, '\n')).trim();
}

/** Joins lines that an editor wrapped: a long line that ends within a sentence, and one that starts in lower case. */
function unwrapLines(text: string): string {
  const lines: string[] = [];
  let lastLength = 0;
  for (const line of text.split('\n')) {
    const last = lines.at(-1) ?? '';
    const isWrapped = lastLength >= 40 && /^\p{Ll}{2}/u.test(line) && !/[.!?:;…]$/.test(last);
    lines.splice(isWrapped ? -1 : lines.length, 1, isWrapped ? `${last} ${line}` : line);
    lastLength = line.length;
  }
  return lines.join('\n');
}

/** In characters; several times the longest essay. Bounds the time of the replacements. */
const maxLength = 20_000;

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&apos;': "'",
  '&nbsp;': ' ',
};

/** All patterns are bounded, so that no input makes them slow. The order matters. */
const replacements: readonly (readonly [RegExp, string])[] = [
  [/\r\n?|[\u2028\u2029\v\f]/g, '\n'],
  [/<(script|style)\b[^<>]{0,500}>[^<]{0,5000}<\/\1\s*>/gi, ' '],
  [/<!--[^<>]{0,2000}-->/g, ' '],
  [/<li\b[^<>]{0,500}>/gi, '\n- '],
  [/<\/?(?:p|div|br|h[1-6]|ul|ol|li|tr|table|section|article|blockquote)\b[^<>]{0,500}>/gi, '\n'],
  [/<\/?[a-z][^<>]{0,500}>/gi, ''],
  [/^[ \t]{0,20}(?:#{1,6}|>)[ \t]+/gm, ''],
  [/^[ \t]{0,20}(?:`{3,}|~{3,}|-{3,}|\*{3,}|={3,})[^\n]{0,40}$/gm, ''],
  [/!?\[([^[\]\n]{0,200})\]\([^()\n]{0,500}\)/g, '$1'],
  [/(\*\*|__|~~)(?=\S)([^*_~\n]{1,500})\1/g, '$2'],
  [/(?<![\p{L}\p{N}*_])([*_])(?=\S)([^*_\n]{1,500})\1(?![\p{L}\p{N}*_])/gu, '$2'],
  [/`([^`\n]{1,500})`/g, '$1'],
  [/\b(the|a|an|of|and|to|in|is|for)(?: \1\b)+/gi, '$1'],
  // Control characters; invisible joiners stay.
  [/[^\P{Cc}\n]|[\u200b\ufeff]/gu, ' '],
];
