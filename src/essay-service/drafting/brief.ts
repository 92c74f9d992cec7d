import { htmlToText } from '../../base/html-text.ts';
import { findWordLimit } from '../../base/words.ts';
import { splitSentences } from '../sentences.ts';
import { type EssayPurpose, readPurposeAndTitles } from '../writing-order.ts';

/** The content of a description, in its own words. */
export interface Brief {
  /** A phrase or a sentence. */
  topic: string;
  points: Point[];
  purpose: EssayPurpose | null;
  title: string;
}

export interface Point {
  /** A phrase or a sentence. */
  text: string;
  /** Further sentences about it. */
  details: string[];
}

/** Reads a description: the topic, and the points of its lists and sentences. Requests to the writer are removed. */
export function readBrief(description: string): Brief {
  const { purpose, titles, text } = readPurposeAndTitles(description);
  const plain = toPlainText(text);
  const points: Point[] = [];
  let topic = '';

  for (const line of plain.split('\n')) {
    const [, listed] = listItem.exec(line) ?? [];
    if (listed) {
      const [first = '', ...details] = splitSentences(listed);
      points.push({ text: first, details: details.map(toSentence) });
      continue;
    }
    for (const sentence of splitSentences(line)) {
      if (styleRequest.test(sentence)) continue;
      const request = removeRequest(sentence);
      const [, head = request, list = ''] = request.length > maxRequest ? [] : (announcedList.exec(request) ?? []);
      const isList = pointsOnly.test(head.replace(/[:.]?\s*$/, ':'));
      const parts = splitList(isList || topic === '' ? list : request === sentence ? '' : list || request);
      if (topic !== '' && parts.length === 0 && !isList) parts.push(sentence);
      if (topic === '' && !isList) topic = head;
      points.push(...parts.map((part) => ({ text: part, details: [] })));
    }
  }
  topic = trimMarks(topic) || titles[0] || points.map((point) => trimMarks(point.text)).join(', ') || plain;
  return { topic, points: groupPoints(points, topic), purpose, title: titles[0] ?? toTitle(topic) };
}

/** Adds a capital at the start and, if there is no other mark, a full stop at the end. */
export function toSentence(text: string): string {
  const trimmed = text.trim().replace(/[\s,;:\-–—]+$/u, '');
  return capitalize(endMark.test(trimmed) ? trimmed : `${trimmed}.`);
}

/** A name of a few words in quotation marks, which may stand in any place of a sentence. */
export function quote(text: string): string {
  const name = trimMarks(text).replaceAll(/["“”„«»]/g, '');
  const short = name.slice(0, findWordLimit(name, maxNameWords));
  return `“${short.length < name.length ? `${short.replace(/[\s\p{P}]+$/u, '')}…` : name}”`;
}

function trimMarks(text: string): string {
  return text.replaceAll(/^[\s,;:.…。，、：\-–—•*|]+|[\s,;:.…。，、：\-–—•*|]+$/gu, '');
}

export function capitalize(text: string): string {
  return text.replace(
    /^(["'“‘(¿¡]*)(\p{Ll})(?!\p{Ll}*\p{Lu})/u,
    (_, marks: string, letter: string) => marks + letter.toUpperCase(),
  );
}

const endMark = /[.!?…。！？؟।]["'”’»)\]]*$/u;
const maxNameWords = 6;
/** In characters: a longer sentence is prose, whose colon does not begin a list. */
const maxRequest = 1_000;

function toTitle(topic: string): string {
  const [clause = ''] = topic.split(/[;:–—(.]\s/, 1);
  const end = findWordLimit(clause, maxTitleWords);
  return capitalize(end < clause.length ? `${clause.slice(0, end).replace(/[\s\p{P}]+$/u, '')}…` : clause);
}

const maxTitleWords = 14;

/** Without repetitions. Of many sentences, some that follow each other are one point. */
function groupPoints(all: readonly Point[], topic: string): Point[] {
  const seen = new Set([normalize(topic), '']);
  const points = all.filter(({ text }) => !seen.has(normalize(text)) && seen.add(normalize(text)));
  const isProse = points.filter(({ text }) => endMark.test(text)).length > maxSingleSentences;
  const grouped: Point[] = [];
  for (const point of points) {
    const last = grouped.at(-1);
    const belongs = isProse && last && endMark.test(last.text) && endMark.test(point.text);
    if (belongs && last.details.length < sentencesPerPoint - 1)
      last.details.push(toSentence(point.text), ...point.details);
    else grouped.push({ text: point.text, details: [...point.details] });
  }
  return grouped;
}

const maxSingleSentences = 6;
const sentencesPerPoint = 4;

function normalize(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{S}]+/gu, ' ')
    .trim();
}

/** Splits "a, b and c" or "a; b; c". A comma within brackets or quotation marks is part of a point. */
function splitList(list: string): string[] {
  const isSemicolons = /[;；]/.test(list);
  const parts = list.match(isSemicolons ? /[^;；]+/g : /(?:\([^()]*\)|"[^"]*"|“[^“”]*”|,(?!\s)|[^,，、])+/g) ?? [];
  const last = parts.at(-1)?.match(/^(.*\S)\s+(?:and|or|und|et|y)\s+(["“(].*|[^"“”()]+)$/is);
  const all = last && !isSemicolons ? [...parts.slice(0, -1), last[1] ?? '', last[2] ?? ''] : parts;
  return all
    .map((part) => trimMarks(part.trim().replace(/^(?:and|or|und|et|y|also|then|finally)\s+/i, '')))
    .filter(Boolean);
}

/** Removes HTML and Markdown. Lines and the marks of list items stay. */
function toPlainText(description: string): string {
  const lines = description.slice(0, 20_000).replaceAll(/\r\n?|[\u2028\u2029\v\f]/g, '\n');
  const text = htmlToText(lines.replaceAll(/<li\b[^<>]*>/gi, '\n- '));
  return replacements.reduce((plain, [pattern, replacement]) => plain.replace(pattern, replacement), text).trim();
}

/** All patterns are bounded, so that no input makes them slow. The order matters. */
const replacements: readonly (readonly [RegExp, string])[] = [
  [/^[ \t]{0,20}(?:#{1,6}|>)[ \t]+|^[ \t]{0,20}(?:`{3,}|~{3,}|-{3,}|\*{3,}|={3,})[^\n]{0,40}$/gm, ''],
  [/!?\[([^[\]\n]{0,200})\]\([^()\n]{0,500}\)/g, '$1'],
  [/(\*\*|__|~~|`)(?=\S)([^*_~`\n]{1,500})\1/g, '$2'],
  // "1) costs 2) time" in one line.
  [/(?<=\s)\(?(\d{1,2})\)\s/g, '\n$1) '],
  [/[^\P{Cc}\n]|[\u200b\ufeff]/gu, ' '],
  [/[^\S\n]+/g, ' '],
  // Lines that an editor wrapped.
  [/(?<=[^\n]{40})(?<![.!?:;…]) ?\n(?=\p{Ll}{2})/gu, ' '],
];

const listItem = /^\s*(?:[-*•·–—+▪◦]|\(?\d{1,3}[.)]|\(?[a-h]\))\s+(?:\[[ xX]?\]\s*)?(\S.*)$/;

/** "Please write a short essay about bees" becomes "bees". */
function removeRequest(sentence: string): string {
  const rest = requests.reduce((text, pattern) => text.replace(pattern, '') || text, sentence);
  return rest.trim();
}

const requests = [
  /^(?:(?:hi|hello|please|kindly|can you|could you|would you|i(?:['’]d| would) like(?: you)?(?: to)?|i (?:need|want)(?: you)?(?: to)?|help me(?: to)?|also|then|finally)[\s,!]+){1,3}/i,
  /^(?:(?:write|draft|compose|generate|create|produce|prepare|give)\b(?: (?:me|us))?|an?\b)(?: (?:an?|the|my|one))?(?: [\p{L}\p{N}-]+,?){0,4}? ?\b(?:essay|article|report|paper|piece|text|post|story|speech)s?(?: (?:of|in) (?:about )?\d+ words)?(?: (?:that|which))?[ ,:]+(?:about|on|regarding|concerning|covering|of|for|discuss(?:es|ing)?|describ(?:es?|ing)|explain(?:s|ing)?|argu(?:es|ing)? (?:that|for|against)|entitled|titled)[ :]+/iu,
  /^(?:écri(?:s|vez|re)|rédige[rz]?|schreibe?n?(?: sie)?|escrib[ea]|escribir|scriv[ia]|escrev[ae]) (?:una?|une|eine?n?|um|uma) \p{L}+ (?:sur|über|zu[mr]?|sobre|su|sul|sulla|acerca de) /iu,
  /^(?:write|talk|report|reflect) (?:about|on) |^(?:discuss|explain|describe|explore|analy[sz]e|examine|compare|outline|consider|evaluate|assess|summari[sz]e|present|review|cover|include|mention|address|argue that)(?: (?:also|both|the following(?: \p{L}+)?))? ?:? ?/iu,
  /^(?:(?:essay )?(?:topic|subject|theme|title)|about|on) ?: ?|^(?:about|on) /i,
];

/** "remote work: cost and noise", "remote work, covering cost and noise". */
const announcedList =
  /^(.+?)(?:\s*(?::\s|：)|[,;]?\s(?:covering|including|focus(?:s)?ing on|discussing|touching on|mentioning|such as|with (?:an? )?(?:focus|sections|emphasis) on|in terms of|and (?:cover|discuss|mention|include|address))\s|[,;]\s(?:cover|discuss|mention|include|address)\s)\s*(.+)$/isu;
const pointsOnly =
  /^(?:\p{L}+ ){0,6}(?:points?|topics?|aspects?|questions?|items?|ideas?|arguments?)(?: to \p{L}+)?:$/iu;
/** Sentences about how to write. */
const styleRequest =
  /^(?:please )?(?:it (?:should|must) be|keep|use|avoid|write|make|ensure|aim|format|cite|do not|don['’]t|be|no|the (?:essay|text|tone|style)|tone|style|length|audience|max(?:imum)?|about|around|approximately)\b[^:]{0,120}\b(?:tone|style|words|jargon|sentences|paragraphs|readers?|audience|headings?|language|simple|formal|short|sources|citations)\b[^:]{0,60}$/i;
