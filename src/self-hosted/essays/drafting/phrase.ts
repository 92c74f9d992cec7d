import { countWords } from '../words.ts';
import { isCommonWord } from './common-words.ts';

/**
 * A part of the description, by its possible place in a template. `noun`: as a noun phrase; `label`: only after a colon,
 * as written; `statement` and `question`: as a separate sentence.
 */
export interface Phrase {
  kind: 'noun' | 'label' | 'statement' | 'question';
  text: string;
}

interface PhraseContext {
  /** Whether it was at the start of a line or sentence, so that its first word may have a capital without being a name. */
  isAtStart: boolean;
  /** Whether it ended like a sentence. */
  isSentence: boolean;
  /** Whether the description is in English. Only then it can be part of English sentences. */
  isEnglish: boolean;
}

/** Classifies a text; null if it contains no words, numbers or symbols. */
export function readPhrase(raw: string, context: PhraseContext): Phrase | null {
  const trimmed = raw.trim();
  if (!/[\p{L}\p{N}\p{S}\p{Extended_Pictographic}]/u.test(trimmed)) return null;
  const text = trimmed.replace(edges, '');
  if (/[?？]["'”’)]*$/.test(text)) return { kind: 'question', text: capitalise(text) };
  if (context.isSentence && (countWords(text) >= 3 || subject.test(text)))
    return { kind: 'statement', text: toSentence(trimmed) };
  const label = text.replace(/!+$/, '');
  if (!context.isEnglish) return { kind: 'label', text: quote(label) };
  if (isClause(label)) return { kind: 'statement', text: toSentence(label) };
  const inline = lowerFirst(label, context.isAtStart);
  if (inline === null || !isNounPhrase(label)) return { kind: 'label', text: inline ?? label };
  return { kind: 'noun', text: inline };
}

/** A noun phrase by which a later sentence can refer to the phrase; null if there is none. */
export function referTo({ kind, text }: Phrase, maxWords: number): string | null {
  const isQuestion = questionWord.test(text);
  if (kind !== 'noun' || countWords(text) > (isQuestion ? maxWords - 3 : maxWords)) return null;
  return isQuestion ? `the question of ${text}` : text;
}

export function capitalise(text: string): string {
  return text.replace(
    /^(["'“‘(¿¡]*)(\p{Ll})(?!\p{Ll}*\p{Lu})/u,
    (_start, quotes: string, letter: string) => quotes + letter.toUpperCase(),
  );
}

/** Adds a capital at the start and, if there is no other mark, a full stop at the end. */
export function toSentence(text: string): string {
  const trimmed = text.trim().replace(/[\s,;:\-–—]+$/u, '');
  return capitalise(/[.!?…。！？؟।]["'”’)\]]*$/u.test(trimmed) ? trimmed : `${trimmed}.`);
}

function isClause(text: string): boolean {
  if (questionWord.test(text) || relative.test(text)) return false;
  return countWords(text) >= 3 && finiteVerb.test(text);
}

/** False in doubt: a label is only awkward, but a clause in the place of a noun is wrong. */
function isNounPhrase(text: string): boolean {
  const words = countWords(text);
  if (words > 20) return false;
  if (words === 1 || questionWord.test(text) || /^\p{L}+ing\s/u.test(text)) return true;
  if (subject.test(text) || finiteVerb.test(text) || verbLike.test(text)) return false;
  return words <= 3 || preposition.test(text) || (determiner.test(text) && words <= 6);
}

/** The text for the middle of a sentence; null if its first word may be a name. */
function lowerFirst(text: string, isAtStart: boolean): string | null {
  const [first = ''] = text.split(/[\s,]/, 1);
  if (!isAtStart || !/^\p{Lu}/u.test(first) || /^.\S*\p{Lu}/u.test(first) || /^I(?:['’]|$)/.test(first)) return text;
  const [stem = ''] = first.split(/[-'’]/, 1);
  if (isCommonWord(stem.toLowerCase())) return text.charAt(0).toLowerCase() + text.slice(1);
  const others = text.slice(first.length).match(/(?<=\s)\p{L}{4,}/gu) ?? [];
  return others.length > 0 && others.every((word) => /^\p{Lu}/u.test(word)) ? text : null;
}

function quote(text: string): string {
  return /^["“„«「]/.test(text) ? text : `“${text}”`;
}

const edges = /^[\s,;:.!?…。，、：\-–—•*|]+|[\s,;:.…。，、：\-–—•*|]+$/gu;
const finiteVerb =
  /\s(?:is|are|was|were|has|have|had|will|would|can|could|should|must|may|might|does|do|did|isn['’]t|aren['’]t|don['’]t|doesn['’]t|won['’]t|can['’]t|cannot)\s/i;
const relative = /\s(?:who|that|which|where|whose)\s/i;
const questionWord = /^(?:how|why|what|whether|when|where|who|which)\s/i;
const determiner =
  /^(?:the|an?|its|their|our|your|his|her|my|this|these|those|some|many|most|more|less|fewer|better|no)\s/i;
const preposition =
  /\s(?:of|in|on|for|from|to|with|without|between|among|at|by|under|over|versus|vs\.?|as|and|or|about)\s/i;
const subject =
  /^(?:i|we|you|he|she|it|they|people|children|students|workers|women|men|everyone|everybody|someone|nobody|there|this|that)\s/i;
/** "builds vocabulary" and "lowers stress" look like "costs of housing" until the second word. */
const verbLike =
  /^(?!\S*(?:ss|us|is|['’]s)\s)\S+s\s+(?!(?:of|in|on|for|from|to|and|or|with|between|at|by|as|versus|vs)\s)/i;
