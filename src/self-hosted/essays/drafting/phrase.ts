import { countWords } from '../../../words.ts';

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

/** Words that have a capital only at the start of a sentence, and lose it elsewhere. */
const list = `
a an the this that these those its their our your his her my some any each every all both no not many most more less
fewer few several other another such same new old good better best bad worse worst high higher low lower long short
early late big small large great first second third last next main key real true full free public private local global
social human digital electric remote modern urban rural young cheap safe clean daily weekly hard soft fast slow
how why what when where who whose which whether if in on at by for from of with without under over between among about
after before during since through towards against
access advice age aid air animals arguments art arts aspects bees benefits bikes birds books business buses care cars
causes challenges change changes children choice cities city class climate coal coffee companies company computers cost
costs countries credit crime crops culture customers cycling data day deadlines death debt demand design diet disease
doctors drugs economics economy effect effects energy ethics exams exercise facts families family farms fashion fear
fees films fires fish flight flood floods food forests freedom friends fuel future games gardens girls goals goods
growth habits health heat help history home homes homework hope hours housing ideas impact impacts income industry
insects insurance interest internet jobs justice knowledge labour land language languages laws leaders learning lessons
libraries life light limits literature loans loneliness loss love machines markets meals media medicine memory methods
migration mobile money music nature news night noise nurses oceans office offices online opinion options origins parents
parks patients peace people phones plants plastic play points police policies policy politics pollution poverty power
prices pride privacy problems process products profit progress pros public quality questions rain reading reasons religion
rent rents research results rights risk risks rivers role roles rules safety sales savings school schools science security
skills sleep society software soil solar sources space speed sport sports staff stress student students study success
supply support symptoms taxes teachers teams technology theory threats time tools tourism towns trade traffic trains travel
treatment trees trends trust truth types uses values views voters wages war wars waste water wealth weather weight wind
women work workers builds lowers raises reduces improves helps saves makes gives takes keeps creates increases
decreases supports allows needs brings cuts boosts protects build lower raise reduce improve help save make give take keep
create increase support allow cut boost protect connects teaches green blue red black white roofs world worries writing years youth zoos`;

const commonWords: ReadonlySet<string> = new Set(list.trim().split(/\s+/));
const commonEnding =
  /(?:tion|sion|ity|ness|ment|ance|ence|ship|hood|ism|logy|acy|ure|age)s?$|(?:ities|ologies|ing|ings|ed|ly|ous|ful|less|able|ible|ive|ives)$/;

const names: ReadonlySet<string> = new Set(
  'florence provence constance beijing chongqing carthage anchorage'.split(' '),
);

/** Whether a word, in lower case, is certainly not a name. Unknown words may be names. */
function isCommonWord(word: string): boolean {
  return commonWords.has(word) || (word.length > 6 && commonEnding.test(word) && !names.has(word));
}
