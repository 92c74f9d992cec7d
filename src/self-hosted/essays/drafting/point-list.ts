interface TopicAndList {
  topic: string;
  /** The text after "covering", a colon or similar; null if there is none. */
  list: string | null;
}

/** Splits "remote work: productivity and loneliness" or "remote work, covering productivity and loneliness". */
export function splitTopicAndList(text: string): TopicAndList {
  // A longer sentence is prose, and its colon does not start a list of points.
  if (text.length > 1000) return { topic: text, list: null };
  for (const pattern of [announced, joined, commanded, dashed]) {
    const [, topic, list] = pattern.exec(text) ?? [];
    if (topic && list) return { topic, list };
  }
  return { topic: text, list: null };
}

/** Splits "a, b and c" or "a; b; c", without the words that join the parts. */
export function splitList(text: string): string[] {
  const separator = /;\s/.test(text) ? /[;；]\s*/ : /,\s+|[，、]\s*/;
  const parts = splitOutsideBrackets(text, separator);
  const last = parts.at(-1) ?? '';
  const isOxford = parts.length > 1 && leadIn.test(last);
  // In "a, b and c" the last two parts are still joined, in "a, b, and c" they are not.
  if (!isOxford) parts.splice(-1, 1, ...splitLast(last));
  return parts.map((part) => part.trim().replace(leadIn, '').trim()).filter(Boolean);
}

function splitLast(text: string): string[] {
  const at = /^(.*\S)\s+(?:and|und|et)\s+(.+)$/is.exec(text);
  return at?.[1] && at[2] ? [at[1], at[2]] : [text];
}

function splitOutsideBrackets(text: string, separator: RegExp): string[] {
  const parts: string[] = [];
  let open = '';
  for (const piece of text.split(separator)) {
    const soFar = open === '' ? piece : `${open}, ${piece}`;
    // A bracket that is not closed soon does not enclose a list.
    const isOpen = soFar.length < 300 && soFar.split('(').length > soFar.split(')').length;
    open = isOpen ? soFar : '';
    if (!isOpen) parts.push(soFar);
  }
  if (open !== '') parts.push(open);
  return parts;
}

const joiners =
  'covering|including|focus(?:s)?ing on|discussing|touching on|addressing|mentioning|looking at|considering|namely|such as|' +
  'with (?:an? )?(?:focus|sections|emphasis|attention) (?:on|to)|in terms of|from the point of view of|paying attention to|' +
  'and (?:also )?(?:cover|discuss|mention|include|address)';
const joined = new RegExp(`^(.+?)[,;]?\\s+(?:and |while |by |especially )?(?:${joiners})\\s+(.+)$`, 'is');
const commanded = /^(.+?)[,;]\s+(?:cover|discuss|mention|include|address|consider|explain|describe|compare)\s+(.+)$/is;
const announced = /^(.+?)\s*(?::\s|：|(?<=\p{scx=Han}):)\s*(.+)$/su;
const dashed = /^(.+?)\s+[-–—]\s+(.+,.+)$/s;
const leadIn = /^(?:and|or|et|und|y|as well as|also|then|finally|plus|that)\s+/iu;
