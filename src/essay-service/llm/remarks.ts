// Parts of words. cspell:ignore palabras palavras revis modif

import { countWords } from '../../base/words.ts';
import { splitSentences } from '../sentences.ts';

/** Removes what a model writes around an essay without a tag: a preface ("Sure! Here is your essay:"), closing remarks, a fence. */
export function removeRemarks(text: string): string {
  return removeFence(removeClosing(removePreface(removeFence(text))));
}

/** Removes a fence around the whole text; without its end, if the text was cut off. A fence around a part of it remains. */
export function removeFence(text: string): string {
  if (!fenceLine.test(text)) return text;
  const lines = text.split('\n');
  let depth = 0;
  for (const [index, line] of lines.entries()) {
    if (!fenceLine.test(line)) continue;
    depth += depth === 0 || /[\p{L}\p{N}]/u.test(line) ? 1 : -1;
    if (depth === 0) return index === lines.length - 1 ? lines.slice(1, -1).join('\n').trim() : text;
  }
  return lines.slice(1).join('\n').trim();
}

const fenceLine = /^[ \t]{0,3}(?:`{3,}|~{3,})[ \t]*[^\n`]{0,40}(?:\n|$)/;

function removePreface(text: string): string {
  const [, first = '', rest = ''] = /^(.{1,400}?)\n\s*\n(?:-{3,}\s*\n)?\s*(\S[\s\S]*)$/s.exec(text) ?? [];
  // In any language: a line with a colon before a title.
  const isBeforeTitle =
    /^[^\n]*[:：]\**$/.test(first) && /^(?![-*+•]\s|\d+[.)])[^\n]*[^\s.!?…:;。！？।]\n\s*\n/.test(rest);
  if (rest !== '' && (isBeforeTitle || prefaces.some((pattern) => pattern.test(first)))) return removePreface(rest);
  return text.replace(/^(\*\*|#{1,6} )?title:(\*\*)?[ \t]*(?=\S)/i, (_, open = '', close) => (close ? '' : open));
}

const prefaces = [
  /^[*_#\s]*(?:the |your )?(?:essay|article|text|report)[*_\s]*:?[*_\s]*$/i,
  // An agreement that goes on about the writer, the order or the text.
  /^(?:sure|certainly|of course|absolutely|definitely|okay|ok|alright|great|gladly|got it|understood|no problem|yes)\b[\s,.!:—–-].*\b(?:I|I['’](?:ll|ve|d|m)|let['’]s|you|your|user|here['’]s|here (?:is|are)|below|following|as requested)\b/is,
  /^(?:here['’]s|here (?:is|are)|below (?:is|are)|(?:the )?following is|this is|please find|I['’]ve|I have)\b.*\b(?:essay|article|text|report|piece|draft|version|composition)\b.*(?::\**$|\b(?:you|your|requested|words?|below)\b)/is,
  /^(?:here['’]s|here is|below is) (?:the|your|an?|my) (?:[\w-]+ ){0,3}(?:essay|article|text|report|draft)[.!:]?$/i,
  /^(?:here you (?:go|are)|(?:the|your) (?:essay|article|text|report) (?:is|follows)(?: below)?)[.!:]*$/i,
];

function removeClosing(text: string): string {
  let kept = text.trim();
  for (;;) {
    const line = kept.slice(kept.lastIndexOf('\n') + 1);
    const sentence = splitSentences(line.slice(-maxRemark)).at(-1) ?? '';
    // A remark in brackets or between asterisks may have several sentences.
    const ends = /^[-*_([（【]/.test(line) ? [sentence, line] : [sentence];
    const remark = ends.find((end) => closings.some((pattern) => pattern.test(end)));
    if (remark === undefined || remark.length > maxRemark || remark.length === kept.length) return kept;
    kept = kept.slice(0, kept.length - remark.length).trimEnd();
  }
}

/** In characters. */
const maxRemark = 300;

const closings = [
  /^(?:[-*_] ?){3,}$/,
  // The number of words, alone or with its name.
  /^[-—*_([（【\s]*(?:(?:total|final|approximate)\s)?(?:word ?count|words|length|字数)[\s*_]*[:：=].{0,40}$/iu,
  /^[-—*_([（【\s]*(?:approximately|approx\.|about|around|~|共|约|全文)?\s?\d[\d.,]*\s?(?:words?|mots|palabras|wörter|parole|palavras|字|слов[а]?)(?: in total)?[\s.。*_)\]）】]*$/iu,
  /^(?:this|the) (?:essay|article|text|piece) (?:is|has|contains|comes to) (?:exactly |about |approximately |roughly )?\d[\d,]* words\b.{0,40}$/i,
  /^[-—*_([\s]*(?:the )?end(?: of (?:the )?(?:essay|article|text))?[\s.*_)\]—-]*$/i,
  /^[*_([\s]*(?:(?:please )?note|p\.?s\.?|disclaimer)\b[*_]*[:,].*\b(?:I|you|your|requested|essay|words?)\b/is,
  // An offer to the person who ordered the essay, not to its readers.
  /^[*_([\s]*(?:(?:please )?(?:let me know|feel free to (?:ask|request|reach|contact|modify|adjust|edit|let|tell))|don['’]t hesitate to|is there anything)\b/i,
  /^[*_([\s]*(?:would you like|do you want|(?:shall|should|can|could) I|(?:if|in case|should) you|I (?:can|could) also|I['’]m happy|I(?:['’]d| would) be happy)\b.*\b(?:I|me|I['’](?:d|ll|m))\b.*\b(?:chang|revis|adjust|adapt|edit|modif|help|question|essay|draft|version|expand|short|long|feedback|assist|tweak|tone|mode|words?\b|know)/is,
  /^[*_([\s]*I hope (?:this|that|it|you|the)\b.*\b(?:help|essay|article|text|meets?|fits?|useful|expect|need|look for|like)/is,
];

/** Whether a short text refuses the order or asks about it, or has nothing to do with the description. */
export function isRefusal(text: string, description: string, wordCount: number): boolean {
  const words = countWords(text);
  if (words >= maxRefusalWords) return false;
  return refusal.test(text) || (words * 3 < wordCount * 2 && !sharesWord(text, description));
}

const maxRefusalWords = 150;
const refusal =
  /^[^\p{L}]*(?:(?:[^.!?\n]{0,80}\b(?:I|we)\b[^.!?\n]{0,30}(?:can['’]?t|can ?not|won['’]t|unable|not able|must decline|not comfortable)\b[^.!?\n]{0,60}\b(?:help|assist|write|provide|create|generate|fulfil|comply|complete|produce|do (?:this|that|so)|support|discuss|continue|request)|as an? (?:ai|language model)\b|before I (?:write|begin|start|draft)\b|(?:could|can|would) you (?:please )?(?:tell|provide|clarify|share|specify|give me)\b))/iu;

/** Words of orders and of refusals do not count, and nothing is known of a text in another script. */
function sharesWord(text: string, description: string): boolean {
  if (isLatin(text) !== isLatin(description)) return true;
  const ordered = listContentWords(description);
  return listContentWords(text).some((word) =>
    ordered.some((other) => word.startsWith(other) || other.startsWith(word)),
  );
}

function isLatin(text: string): boolean {
  const letters = text.match(/\p{L}/gu) ?? [];
  return letters.filter((letter) => /\p{Script=Latin}/u.test(letter)).length * 2 > letters.length;
}

function listContentWords(text: string): string[] {
  const words = Array.from(wordBreaks.segment(text.toLowerCase()), ({ segment }) => segment);
  return words.filter(
    (word) => /^\p{L}/u.test(word) && word.length >= (isLatin(word) ? 4 : 2) && !commonWords.has(word),
  );
}

const wordBreaks = new Intl.Segmenter(undefined, { granularity: 'word' });
const commonWords = new Set(
  'that this with from have been will would could should about into their there they them your what which when where more than also some such only over very just help sorry like make essay article text write wrote writing written topic subject word words please cover point points describe discuss explain include'.split(
    ' ',
  ),
);
