// Tokens of models. cspell:ignore endoftext ipython

/*
 * The markers that language models and their servers leave in a text: reasoning in tags, brackets and symbols, special tokens of
 * chat templates, fences. `clean-answer.ts` decides what they mean for an answer.
 */

export interface Marker {
  kind: MarkerKind;
  /** The name of a tag in small letters, or the language of a fence. */
  name: string;
  index: number;
  /** The index after the marker, and after a role or a header that belongs to it. */
  end: number;
  /** Where it is a marker although its partner is missing; elsewhere, it is text then. Absent: anywhere. */
  alone?: 'between-sentences' | 'at-start' | 'nowhere';
}

type MarkerKind =
  /** Reasoning begins, or ends. */
  | 'thought'
  | 'thought-end'
  /** A message in another channel than the final one begins. */
  | 'channel'
  /** The answer begins: in the final channel, or after a token such as `<|begin_of_solution|>`. */
  | 'answer'
  | 'answer-tag'
  | 'answer-tag-end'
  | 'message'
  | 'message-end'
  /** The header of the model's turn. */
  | 'turn'
  /** The end of a turn, or the header of another role. */
  | 'end'
  /** The end of the user's turn. */
  | 'instruction-end'
  | 'fence'
  | 'strike'
  | 'strike-end'
  /** Without a meaning for the answer, such as `<|begin_of_text|>`. */
  | 'noise';

/** No marker is longer, with its role or header. */
export const maxMarkerLength = 600;

/**
 * The markers of a text, in order. A marker in quotation marks, parentheses or a code span, such as `<think>` here, is text that
 * mentions it.
 * @returns null if there are more than any model writes
 */
export function listMarkers(text: string): Marker[] | null {
  const markers: Marker[] = [];
  let matches = 0;
  let readUntil = 0;
  const spans = text.matchAll(codeSpan);
  let span = { start: 0, end: 0 };

  for (const match of text.matchAll(anyMarker)) {
    matches += 1;
    if (matches > maxMatches) return null;
    const { index } = match;
    if (index < readUntil) continue;
    const end = index + match[0].length;
    while (span.end <= index) {
      const { value } = spans.next();
      span = value ? { start: value.index, end: value.index + value[0].length } : { start: text.length, end: Infinity };
    }
    const mentionEnd = span.start < index ? span.end : findMentionEnd(text, index, end);
    readUntil = mentionEnd ?? end;
    const found = mentionEnd === null ? classify(match.groups ?? {}) : null;
    if (!found) continue;
    const marker = { end, ...(found.name === 'header' ? readRoleAfter(found, text, end) : found), index };
    markers.push(marker);
    readUntil = marker.end;
  }
  return markers;
}

/** In one line. More backticks are a fence. */
const codeSpan = /(?<!`)(?:`[^`\n]{1,200}`|``(?!`)(?:[^`\n]|`(?!`)){1,200}``)(?!`)/g;

/** Classifying them takes a few milliseconds. */
const maxMatches = 2_000;

const thoughtNames =
  'think|thinking|thought|thoughts|reason|reasoning|rationale|reflect|reflection|reflections|scratch_?pad|analysis|' +
  'monologue|cot|deliberation|introspection|contemplation|contemplator|plan|planning|brainstorm|brainstorming|思考';
/** Such as `think`, `seed:think`, `antThinking`, `inner_thoughts`, `chain_of_thought` and `end_of_thinking`. */
const tagName = `(?:[a-z]{1,20}[:._-]){0,3}(?:ant)?(?:${thoughtNames})(?:[:._-][a-z]{1,20}){0,3}`;
const attributes = `(?:\\s{1,3}[\\w:-]{1,20}\\s?=\\s?(?:"[^"<>]{0,60}"|'[^'<>]{0,60}'|[^\\s"'<>]{1,60})){0,3}`;
const bracketName = `(?:(?:begin|start|end)[ _-](?:of[ _-])?)?(?:${thoughtNames})`;

/** Also escaped for HTML, Markdown or JSON. */
const tagOpen = '\\\\?<{1,2}|＜|&lt;|&#60;|\\\\u003c';
const tagClose = '\\\\?>{1,2}|＞|&gt;|&#62;|\\\\u003e';
/** At the beginning, after a sentence, or in a line after one. */
const roleBefore = '(?<=(?:^\\s{0,20}|[.!?…"”’)](?:[ \\t]{0,3}\\n{1,3})?))';

/** Each alternative has a bounded length, so that the time is linear in the length of the text. */
const anyMarker = new RegExp(
  [
    // Channels of OpenAI's harmony format, with recipient and constraint: `<|channel|>commentary to=x <|constrain|>json<|message|>`.
    '<\\|channel\\|>\\s{0,3}(?<channel>[a-z]{0,30})(?:[^<]{0,200}(?:<\\|constrain\\|>[^<]{0,60})?<\\|message\\|>)?',
    '<\\|start\\|>(?<start>[^<]{0,200}(?=<\\|(?:channel|message)\\|>)|[a-z]{0,20})',
    // Gemma 4: `<|channel>thought ... <channel|>`, `<|turn>model ... <turn|>`.
    '<\\|channel>\\s?(?<openChannel>[a-z]{0,30})',
    '(?<channelEnd><channel\\|>)|<(?:turn|tool_call|tool_response)\\|>|<\\|(?:tool_call|tool_response)>',
    '(?:<[|｜]|\\[\\|)\\s?(?<token>\\/?[\\w▁ :.-]{1,60}?)\\s?(?:[|｜]>|\\|\\])',
    `(?:${tagOpen})\\s{0,3}(?<tagSlash>\\/?)\\s{0,3}(?<tag>${tagName})${attributes}\\s{0,3}(?<tagClosed>\\/?)\\s?(?:${tagClose})`,
    `(?<opening>[\\[({]{1,2}|[【［⟨‹◁])\\s?(?<bracketSlash>\\/?)\\s?(?<bracket>${bracketName})\\s?(?:[\\])}]{1,2}|[】］⟩›▷])`,
    // MedGemma and Gemini: `<unused94>thought ... <unused95>`, `<ctrl94>thought ... <ctrl95>`.
    '(?<unused><(?:unused|ctrl)94>)(?:thought)?|(?<unusedEnd><(?:unused|ctrl)95>)',
    `(?<comment><!--\\s{0,9}(?:${thoughtNames})\\b)|(?<commentEnd>-->)`,
    // The names of roles whose tokens were lost, in small letters: `... a tool.assistant\n\n`.
    `${roleBefore}(?<bareRole>assistant|user)[ \\t]{0,3}\\n`,
    '(?<details><details\\b[^<>]{0,100}\\btype\\s?=\\s?["\']?reasoning\\b[^<>]{0,200}>|' +
      '<details\\b[^<>]{0,100}>\\s{0,10}<summary>[^<>]{0,40}\\b(?:thinking|thoughts?|reasoning)\\b[^<>]{0,60}<\\/summary>)|(?<detailsEnd><\\/details>)',
    '<(?<strike>\\/?)s>',
    '<(?:eos|eot|eop|eod|eom|eoa|end_of_(?:turn|text|utterance|sentence)|endoftext|eos_token|seed:eos)>|\\[e~\\[',
    '<(?:tool_calls?|function_calls?)>',
    '(?<header><start_of_turn>|<seed:bos>|<\\|turn>)|<role>(?<role>[a-z]{1,20})<\\/role>',
    '(?<noise><(?:bos|bos_token|pad|sop|special_\\d{1,3})>|\\[gMASK\\])',
    '\\[(?<squareToken>\\/?INST|[BE]OS|EOT|TOOL_CALLS|UNUSED_TOKEN_145)\\]',
    '<(?<answerSlash>\\/?)(?<answerTag>answer|response|output|final|final_answer|final_response|essay|result|solution)>',
    '(?<![^\\n])[ \\t]{0,3}(?<fence>`{3,20}|~{3,20})[ \\t]{0,3}(?<language>[^\\n`<]{0,40})(?=[\\n<]|$)',
  ].join('|'),
  'giu',
);

/** The end of a text that mentions a marker in quotation marks, or of `<think>...</think>` in them; null if it is a marker. */
function findMentionEnd(text: string, index: number, end: number): number | null {
  // French quotation marks have spaces inside.
  const opening = /« $|[^ ]$/u.exec(text.slice(Math.max(0, index - 2), index).replace('\u00a0', ' '))?.[0][0] ?? '';
  const closing = quotes[opening];
  if (closing === undefined) return null;
  // It closes what is before the marker: `is "it"</think>"City Bees"`.
  if (opening === closing && /[\p{L}\p{N}.!?…]/u.test(text[index - 2] ?? '')) return null;
  const after = text.slice(end, end + 80);
  const rest =
    /^(?:\s?(?:\.{3}|…)\s?(?:<|\[|◁)[^>\]▷\n]{1,60}(?:>|\]|▷))?[.,;:!?…]{0,3}[ \u00a0]?/.exec(after)?.[0] ?? '';
  const isClosed = after[rest.length] === closing && (closing === '»' || !/[ \u00a0]$/.test(rest));
  return isClosed ? end + rest.length : null;
}

const quotes: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '`': '`',
  '“': '”',
  '‘': '’',
  '«': '»',
  '„': '“',
  '(': ')',
};

type Found = Omit<Marker, 'index' | 'end'> & { end?: number };
type Groups = Readonly<Record<string, string | undefined>>;

/** What a match is; null: text. */
function classify(groups: Groups): Found | null {
  const { channel, openChannel, start, token, tag, bracket, fence, answerTag, strike } = groups;
  if (channel !== undefined) return readChannel(channel);
  if (openChannel !== undefined) return answerNames.test(openChannel) ? found('answer') : found('thought', 'channel');
  if (start !== undefined) return otherRoles.test(start.trim()) ? found('end', 'role') : found('message');
  if (token !== undefined) return readToken(toName(token), token.startsWith('/'));
  if (tag !== undefined) return groups.tagClosed ? found('noise') : readTag(tag, groups.tagSlash === '/');
  if (bracket !== undefined) return readBracket(groups.opening ?? '', bracket, groups.bracketSlash === '/');
  if (groups.bareRole !== undefined)
    return groups.bareRole === groups.bareRole.toLowerCase() ? readRole(groups.bareRole) : null;
  if (fence !== undefined) return found('fence', groups.language?.trim() ?? '');
  if (answerTag !== undefined)
    return found(groups.answerSlash ? 'answer-tag-end' : 'answer-tag', answerTag.toLowerCase());
  if (strike !== undefined) return found(strike ? 'strike-end' : 'strike');
  if (groups.role !== undefined) return readRole(groups.role);
  if (groups.squareToken !== undefined) return readSquareToken(groups.squareToken);
  return readFixed(groups);
}

/** Markers that have one form. The end of a turn has many, and is no group. */
function readFixed(groups: Groups): Found {
  if (groups.channelEnd !== undefined) return found('thought-end', 'channel');
  if (groups.header !== undefined) return found('turn', 'header');
  if (groups.details !== undefined) return found('thought', 'details');
  if (groups.detailsEnd !== undefined) return { ...found('thought-end', 'details'), alone: 'nowhere' };
  if (groups.comment !== undefined) return found('thought', 'comment');
  if (groups.commentEnd !== undefined) return { ...found('thought-end', 'comment'), alone: 'nowhere' };
  if (groups.unused !== undefined) return found('thought', 'unused');
  if (groups.unusedEnd !== undefined) return found('thought-end', 'unused');
  return found(groups.noise === undefined ? 'end' : 'noise');
}

function found(kind: MarkerKind, name = ''): Found {
  return { kind, name };
}

function readChannel(name: string): Found {
  return answerNames.test(name) ? found('answer') : found('channel');
}

const answerNames = /^(?:final|answer|response)$/i;

function readThought(name: string, isEnd: boolean): Found {
  const words = name.toLowerCase().split(/[:._ -]/);
  const kind = isEnd || words.some((word) => word === 'end' || word === 'stop') ? 'thought-end' : 'thought';
  return found(kind, words.filter((word) => !/^(?:begin|start|end|stop|of)$/.test(word)).join('_'));
}

/** A name that is a usual word may be an element that a sentence is about: "the <analysis> element". */
function readTag(name: string, isEnd: boolean): Found {
  const marker = readThought(name, isEnd);
  return isEnd || /think|_/.test(marker.name) ? marker : { ...marker, alone: 'between-sentences' };
}

/** In brackets, an editor may comment on a text: "I [think] so", "[ANALYSIS] Bees in cities". */
function readBracket(opening: string, name: string, hasSlash: boolean): Found {
  const marker = readThought(name, hasSlash);
  if (hasSlash || opening === '◁') return marker;
  const isSure = /^(?:think|thinking|thoughts?|reasoning)$/.test(marker.name);
  if (opening.endsWith('[') && name === name.toUpperCase() && (isSure || marker.kind === 'thought-end')) return marker;
  return { ...marker, alone: isSure && marker.kind === 'thought' ? 'at-start' : 'nowhere' };
}

function readSquareToken(token: string): Found | null {
  // Unlike "[eos]" or "[inst]".
  if (token !== token.toUpperCase()) return null;
  if (token === '/INST') return found('instruction-end');
  return found(token === 'BOS' ? 'noise' : 'end');
}

/** `<|im_end|>`, `<|END_OF_TURN_TOKEN|>` and `<｜end▁of▁sentence｜>` are `im_end`, `end_of_turn` and `end_of_sentence`. */
function toName(token: string): string {
  return token
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_|_$|_token_?$/g, '');
}

/** A special token; null for other texts between bars, such as `<|x|>` in physics. */
function readToken(name: string, isEnd: boolean): Found | null {
  if (thoughtToken.test(name)) return found(isEnd ? 'thought-end' : 'thought', 'token');
  if (thoughtEndToken.test(name)) return found('thought-end', 'token');
  if (name === 'end') return found('message-end');
  if (answerToken.test(name)) return found(isEnd ? 'end' : 'answer');
  if (noiseToken.test(name)) return found('noise');
  if (headerToken.test(name)) return found(name === 'begin' ? 'message' : 'turn', 'header');
  if (endToken.test(name)) return found('end');
  const role = roleToken.exec(name)?.[1];
  return role === undefined ? null : readRole(role);
}

const thoughtBegin = '(?:(?:inner|assistant|model)_)?';
const thoughtToken = new RegExp(
  `^(?:(?:begin|start)_(?:of_)?)?${thoughtBegin}(?:${thoughtNames})(?:_begin|_start)?$|^inner_prefix$`,
);
const thoughtEndToken = new RegExp(
  `^(?:end|stop)_(?:of_)?${thoughtBegin}(?:${thoughtNames})$|^${thoughtBegin}(?:${thoughtNames})_(?:end|stop)$|^inner_suffix$`,
);
const answerToken =
  /^(?:(?:begin|start)_(?:of_)?)?(?:solution|response|answer|output|final|content)(?:_begin|_start)?$/;
const noiseToken =
  /^(?:im_sep|im_middle|end_header_id|header_end|end_of_role|message|constrain|(?:begin|end)_of_box|(?:begin|start)_?(?:of_?)?(?:text|sentence)|bos|sot|bom|pad|flush|end_?of_?prompt|(?:image|audio|video|vision|reserved|unused|extra|placeholder|object|quad|fim)(?:_\w*)?)$/;
const headerToken =
  /^(?:im_start|im_assistant|begin|start_header_id|header_start|start_of_role|start_of_turn|start_message|turn)$/;
const endToken =
  /^(?:im_)?end(?:_?of_?\w+|_text|_turn|_solution|_response|_answer|_output)?$|^(?:im|assistant|user|system|turn|role|message|response|answer|solution|content)_end$|^eo[a-z]{1,3}(?:_id)?$|^(?:return|call|stop|separator|refusal)$|^(?:begin_|start_)?(?:tool|function|python|action)(?:_?[a-z]+)*$/;
const roleToken = /^(?:hy_|im_)?([a-z]+?)(?:_start)?$/;

/** A header, with the role after its token, such as `<|im_start|>assistant`. */
function readRoleAfter(header: Found, text: string, index: number): Found {
  const match = /^ ?([a-z]{1,20})(?::|(?=\s{0,3}(?:[\n<]|$)))/i.exec(text.slice(index, index + 40));
  const role = match?.[1] === undefined ? null : readRole(match[1]);
  if (!match || !role) return header;
  return { ...(role.kind === 'turn' ? header : role), end: index + match[0].length };
}

function readRole(role: string): Found | null {
  if (/^(?:assistant|model|ai|bot|chatbot|gpt)$/i.test(role)) return found('turn');
  if (otherRoles.test(role)) return found('end', 'role');
  if (answerNames.test(role)) return found('answer');
  return /^(?:think|thinking|thought|reasoning)$/i.test(role) ? found('thought', 'role') : null;
}

const otherRoles = /^(?:user|human|system|developer|tool|function|observation|ipython|environment|context)$/i;
