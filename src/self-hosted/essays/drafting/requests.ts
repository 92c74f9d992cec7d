interface StrippedRequest {
  text: string;
  /** Whether something was removed, so that the text is a phrase and not a sentence. */
  isRequest: boolean;
}

/** Removes the request from a sentence: "Please write a short essay about bees" becomes "bees". */
export function stripRequest(sentence: string): StrippedRequest {
  let text = sentence;
  for (const pattern of [politeness, politeness, foreignOrder, order, bareOrder, verb, label]) {
    const rest = text.replace(pattern, '');
    if (rest.trim() !== '') text = rest;
  }
  return { text: text.trim(), isRequest: text !== sentence };
}

/** The points in a sentence such as "Cover a, b and c."; null for other sentences. */
export function readPointsRequest(sentence: string): string | null {
  for (const pattern of [pointsLabel, pointsVerb]) {
    const match = pattern.exec(sentence);
    if (match) return sentence.slice(match[0].length).trim();
  }
  return null;
}

/** Whether a sentence is about how to write ("Keep the tone formal.") or only announces a list. */
export function isInstruction(sentence: string): boolean {
  const request = sentence.replace(politeness, '').replace(politeness, '');
  if (sentence.length >= 200 || order.test(request) || verb.test(request)) return false;
  return styleRequest.test(sentence) || announcement.test(sentence);
}

const politeness =
  /^(?:hi|hello|hey|please|kindly|can you|could you|would you|i(?:['’]d| would) like(?: you)?(?: to)?|i (?:need|want)(?: you)?(?: to)?|help me(?: to)?|let['’]s)[\s,!]+/i;
const order =
  /^(?:write|draft|compose|generate|create|produce|prepare|give|make|an?)\b(?: (?:me|us))?(?: (?:an?|the|some|my|our|one))?(?: [\p{L}\p{N}-]+,?){0,4}? ?\b(?:essay|article|report|paper|piece|text|post|story|overview|speech|analysis|summary|draft)s?(?: (?:of|in) (?:about )?\d+ words)?(?: (?:that|which|to))?[ ,:]+(?:about|on|regarding|concerning|covering|of|for|discuss(?:es|ing)?|describ(?:es?|ing)|explain(?:s|ing)?|explor(?:es?|ing)|argu(?:es|ing)? (?:that|for|against)|examin(?:es?|ing)|entitled|titled|called)[ :]+/iu;
const bareOrder = /^(?:[\p{L}-]+ )?(?:essay|article|report|paper|text) (?:about|on|regarding|concerning)[ :]+/iu;
const verb =
  /^(?:write|talk|tell (?:me|us)|report|reflect|speak)(?: something)? (?:about|on) |^(?:discuss|explain|describe|explore|analy[sz]e|examine|compare|contrast|outline|consider|evaluate|assess|summari[sz]e|present|review|investigate|argue (?:that|for|against|why)|show|define)(?: and (?:discuss|explain|describe|evaluate|contrast|compare|assess))? (?:to (?:me|us) )?/i;
const label = /^(?:(?:essay )?(?:topic|subject|theme|title)|about|on)(?: is)? ?: ?|^(?:about|on) /i;
const foreignOrder =
  /^(?:écri(?:s|vez|re)|rédige[rz]?|schreibe?n?(?: sie)?|escrib[ea]|escribir|scriv[ia]|escrev[ae]) (?:una?|une|eine?n?|um|uma) [\p{L}]+ (?:sur|über|zu[mr]?|sobre|su|sul|sulla|acerca de) /iu;

const styleRequest =
  /^(?:please )?(?:it (?:should|must) be|keep|use|avoid|write|make|ensure|aim|format|cite|do not|don['’]t|be|add|no|the (?:essay|text|tone|style)|tone|style|length|language|audience|at most|maximum|max|about|around|approximately)\b.*\b(?:tone|style|words?|jargon|sentences?|paragraphs?|essay|text|readers?|audience|headings?|language|simple|clear|formal|short|sources?|citations?|funny|professional|academic)\b/i;
/** "Cover these points:" only announces a list. */
const announcement =
  /^(?:\p{L}+ ){0,6}(?:the )?(?:following|these|those|key|main)? ?(?:points?|topics?|aspects?|questions?|items?|things?|ideas?|arguments?)(?: (?:below|in turn|to (?:cover|include|discuss|address|mention)))?[:.]?$/iu;
const pointsLabel =
  /^(?:(?:key|main|the)? ?(?:points?|topics?|aspects?|arguments?|sections?|ideas?)(?: (?:are|to (?:cover|include|discuss|address|mention|make)))?|cover|include|mention|address|discuss|outline) ?: ?/i;
const pointsVerb =
  /^(?:(?:please|also|then|and|finally|next|it should|the (?:essay|text|paper) should|(?:make|be) sure to|you should|i want you to|it must|must|should) )*(?:cover|discuss|mention|include|address|touch on|talk about|write about|explain|describe|compare|consider|explore|focus on|look at|analy[sz]e|examine|outline|deal with|show)\b(?: (?:also|both|things like|points like|the following(?: \p{L}+)?:?))? ?/iu;

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
