import { splitSentences } from '../sentences.ts';

/** Removes what a model writes around an essay without a tag: a preface ("Sure! Here is your essay:"), closing remarks, a fence. */
export function removeRemarks(text: string): string {
  return removeFence(removeClosing(removePreface(removeFence(text))));
}

/** Removes a fence around the whole text; without its end, if the text was cut off. A fence around a part of it remains. */
export function removeFence(text: string): string {
  const withoutFirstLine = (fenced: string) => fenced.replace(/^.*\n?/, '').trim();
  let depth = 0;
  for (const { 0: line, 1: language, index } of text.matchAll(/^[ \t]{0,3}(?:`{3,}|~{3,})[ \t]*([^\n`]{0,40})$/gm)) {
    if (depth === 0 && index > 0) return text;
    depth += depth === 0 || language ? 1 : -1;
    if (depth === 0) return index + line.length < text.length ? text : withoutFirstLine(text.slice(0, index));
  }
  return depth === 0 ? text : withoutFirstLine(text);
}

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
  /^(?:here you (?:go|are)|(?:here['’]s|here is|below is) (?:the|your|an?|my) (?:[\w-]+ ){0,3}(?:essay|article|text|report|draft))[.!:]*$/i,
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
  // The number of words, alone or with its name. cspell:ignore palabras palavras revis modif
  /^[-—*_([（【\s]*(?:(?:total|final|approximate)\s)?(?:word ?count|words|length|字数)[\s*_]*[:：=].{0,40}$/iu,
  /^[-—*_([（【\s]*(?:approximately|approx\.|about|around|~|共|约|全文)?\s?\d[\d.,]*\s?(?:words?|mots|palabras|wörter|parole|palavras|字|слов[а]?)(?: in total)?[\s.。*_)\]）】]*$/iu,
  /^[*_([\s]*(?:(?:please )?note|p\.?s\.?|disclaimer)\b[*_]*[:,].*\b(?:I|you|your|requested|essay|words?)\b/is,
  // An offer to the person who ordered the essay, not to its readers.
  /^[*_([\s]*(?:(?:please )?(?:let me know|feel free to (?:ask|request|reach|contact|modify|adjust|edit|let|tell))|don['’]t hesitate to|is there anything)\b/i,
  /^[*_([\s]*(?:would you like|do you want|(?:shall|should|can|could) I|(?:if|in case|should) you|I (?:can|could) also|I['’]m happy|I(?:['’]d| would) be happy)\b.*\b(?:I|me|I['’](?:d|ll|m))\b.*\b(?:chang|revis|adjust|adapt|edit|modif|help|question|essay|draft|version|expand|short|long|feedback|assist|tweak|tone|mode|words?\b|know)/is,
  /^[*_([\s]*I hope (?:this|that|it|you|the)\b.*\b(?:help|essay|article|text|meets?|fits?|useful|expect|need|look for|like)/is,
];
