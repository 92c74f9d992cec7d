// Tokens of models. cspell:ignore ipython

/*
 * The markers that language models and their servers leave in a text, as a table. `essay-text.ts` decides what they mean for an answer.
 */

export interface Marker {
  kind: MarkerKind;
  /** The name of a tag. */
  name: string;
  index: number;
  /** The index after the marker, and after a role that belongs to it. */
  end: number;
}

/**
 * `thought`, `thought-end`: reasoning; `channel`: a message for others than the reader; `answer`: the answer begins; `tag`, `tag-end`:
 * a tag around the answer; `turn`: the header of the model's turn; `end`: the end of a turn, or the header of another role;
 * `message-end`: a final message may follow; `noise`: without a meaning for the answer, also whole blocks of reasoning.
 */
type MarkerKind =
  | 'noise'
  | 'thought-end'
  | 'thought'
  | 'channel'
  | 'answer'
  | 'tag'
  | 'tag-end'
  | 'turn'
  | 'end'
  | 'message-end';
/** The kind depends on the name. */
type NamedKind = 'channel-name' | 'role' | 'token';
type Patterns = Partial<Readonly<Record<MarkerKind | NamedKind, readonly string[]>>>;

/** No marker is longer, but blocks of reasoning. */
export const maxMarkerLength = 600;

const r = String.raw;
const thought =
  'think|thinking|thoughts?|reason|reasoning|rationale|reflect|reflections?|scratch_?pad|analysis|monologue|cot|' +
  'deliberation|introspection|contemplat(?:ion|or)|plan|planning|brainstorm|brainstorming|思考';
/** Such as `think`, `seed:think`, `antThinking`, `inner_thoughts`, `chain_of_thought`. */
const tagName = `(?<name>(?:[a-z]{1,20}[:._-]){0,3}(?:ant)?(?:${thought})(?:[:._-][a-z]{1,20}){0,3})`;
const attributes = r`(?:\s{1,3}[\w:-]{1,20}\s?=\s?(?:"[^"<>]{0,60}"|'[^'<>]{0,60}'|[^\s"'<>]{1,60})){0,3}`;
/** Also escaped for HTML, Markdown or JSON. */
const opened = r`(?:\\?<{1,2}|＜|&lt;|&#60;|\\u003c)\s{0,3}`;
const closed = r`\s{0,3}(?:\\?>{1,2}|＞|&gt;|&#62;|\\u003e)`;
const bracketOpen = r`[[({【［⟨‹]{1,2}\s?`;
const bracketClose = r`\s?[\])}】］⟩›]{1,2}`;
const answerTag = '(?<name>answer|response|output|final|final_answer|final_response|result|solution)';
const fence = r`(?<![^\n])[ \t]{0,3}(?<fence>${'`'}{3,20}|~{3,20}) ?(?:think|thought|reason)[^\n${'`'}]{0,40}\n`;
const details = r`<details\b[^<>]{0,100}(?:\btype\s?=\s?["']?reasoning\b[^<>]{0,200}>|>\s{0,10}<summary>[^<>]{0,40}\b(?:thinking|thoughts?|reasoning)\b)`;
const afterSentence = r`(?<=[.!?…"”’')\]}][ \t]?)`;
const header = r`(?:<\|(?:im_start|im_assistant|begin|start|start_header_id|header_start|start_of_role|turn)\|>|<\|turn>|<start_of_turn>|<seed:bos>) ?`;

/** In any case of letters. A marker before others in the table has precedence at the same place. */
const table: Patterns = {
  noise: [
    `${opened}${tagName}${attributes}\\s{0,3}/${closed}`,
    r`${fence}[\s\S]*?\n\k<fence>[ \t]*(?=\n|$)`,
    r`${details}[\s\S]*?</details>`,
    r`<!--\s{0,9}(?:${thought})\b[\s\S]*?-->`,
    // Reasoning in brackets, in words or in a quotation, before all text.
    r`^\s{0,20}${bracketOpen}(?:(?:begin|start)[ _-](?:of[ _-])?)?(?:${thought})${bracketClose}[\s\S]*?${bracketOpen}(?:/|end[ _-](?:of[ _-])?)\s?(?:${thought})${bracketClose}`,
    r`^\s*Here(?:['’]s| is| are) my (?:thought process|reasoning steps):[\s\S]*?(?:Here(?:['’]s| is) my (?:response|answer):|\[BEGIN FINAL RESPONSE\]|$)`,
    r`^\s*\*\*Thinking(?: process)?:\*\*[\s\S]*?\n-{3,}[ \t]*\n`,
    r`^\s*[*_]{0,3}Thinking(?:\.{3}|…)[*_]{0,3}[ \t]*\n\s*(?:>[^\n]*(?:\n\s*|$))+`,
    r`^\s{0,20}<s>|<(?:bos|bos_token|pad|sop|sep|special_\d{1,3})>|\[gMASK\]`,
  ],
  'thought-end': [
    `${opened}(?:/\\s{0,3}|(?:end|stop)_(?:of_)?)${tagName}${closed}`,
    '◁/think▷|<channel\\|>|<(?:unused|ctrl)95>',
  ],
  thought: [
    `${opened}${tagName}${attributes}${closed}`,
    '◁think▷|<(?:unused|ctrl)94>(?:thought)?',
    fence,
    details,
    `<!--\\s{0,9}(?:${thought})\\b`,
    r`^\s{0,20}${bracketOpen}(?:think|thinking|thought|reasoning)${bracketClose}`,
  ],
  tag: [
    r`[*_${'`'}]{0,3}(?:${opened}(?<name>essay)${attributes}${closed}|(?<![^\n])\[essay\](?=\s))[*_${'`'}]{0,3}`,
    `<${answerTag}>`,
  ],
  'tag-end': [
    r`[*_${'`'}]{0,3}(?:${opened}/\s{0,3}(?<name>essay)${closed}|\[/essay\])[*_${'`'}]{0,3}`,
    `</${answerTag}>`,
  ],
  // OpenAI's harmony format, with recipient and constraint; Gemma's channels.
  'channel-name': [
    r`<\|channel\|>\s{0,3}(?<name>[a-z]{0,30})(?:[^<]{0,200}(?:<\|constrain\|>[^<]{0,60})?<\|message\|>)?`,
    r`<\|channel>\s?(?<name>[a-z]{0,30})`,
  ],
  role: [
    r`${header}(?:(?<name>[a-z]{1,20})(?::|(?=\s{0,3}(?:[\n<]|$)|[^<]{0,200}<\|(?:channel|message)\|>)))?`,
    r`<role>(?<name>[a-z]{1,20})</role>`,
  ],
  token: [r`(?:<[|｜]|\[\|)\s?(?<name>/?[\w▁ :.-]{1,60}?)\s?(?:[|｜]>|\|\])`],
  end: [
    // A text may have been struck out: `<s>birds</s>`.
    r`(?<!\S\s{0,3}<s>[^<\n]{0,200})</s>`,
    r`<(?:turn|tool_call|tool_response)\|>|<\|(?:tool_call|tool_response)>|<(?:tool_calls?|function_calls?)>`,
    r`<(?:eo[stpdma]|end_?of_?(?:turn|text|utterance|sentence)|eos_token|seed:eos)>|\[e~\[`,
  ],
};

/** In these letters only: in others, they are words of a text. */
const exactTable: Patterns = {
  'thought-end': [r`[[［【](?:[/／]|END )(?:THINK|THINKING|THOUGHTS?|REASONING|思考)[\]］】]`],
  thought: [r`[[［【](?:BEGIN |START )?(?:THINK|THINKING|THOUGHTS?|REASONING|思考)[\]］】]`],
  // Tokens were lost: `analysis ... assistantfinal ...`.
  channel: [
    r`^\s{0,20}(?:start)?(?:assistant)?(?:channel)?(?:analysis|commentary)(?=\p{L}|\n\S|[\s\S]*?assistant ?final)`,
    `${afterSentence}(?:end)?(?:start)?assistant(?:channel)?(?:analysis|commentary)`,
  ],
  answer: [
    r`(?:^\s{0,20}|(?<=\n)|${afterSentence})(?:end)?(?:start)?(?:assistant(?: |channel)?|channel)final(?:message)?(?=[\s\p{Lu}\p{Lo}*#<“"])`,
    r`^\s{0,20}final(?=[\p{Lu}<])|\[BEGIN FINAL RESPONSE\]`,
  ],
  role: [r`(?<=^\s{0,20}|[.!?…"”’)](?:[ \t]{0,3}\n{1,3})?)(?<name>assistant|user)[ \t]{0,3}\n`],
  turn: [r`\[/INST\]`],
  end: [r`\[(?:INST|EOS|EOT|TOOL_CALLS|UNUSED_TOKEN_145|END FINAL RESPONSE)\]`],
  noise: [r`\[BOS\]`, r`${afterSentence}(?:end|return)\s{0,20}$`],
};

const rows = [...compile(table, 'giu'), ...compile(exactTable, 'gu')];

function compile(patterns: Patterns, flags: string): { kind: MarkerKind | NamedKind; pattern: RegExp }[] {
  const entries = Object.entries(patterns) as [MarkerKind | NamedKind, readonly string[]][];
  return entries.flatMap(([kind, sources]) => sources.map((source) => ({ kind, pattern: new RegExp(source, flags) })));
}

/** The markers of a text in order, without those that it only mentions. Null if there are more than any model writes. */
export function listMarkers(text: string): Marker[] | null {
  const found = rows.flatMap(({ kind, pattern }) =>
    Array.from(text.matchAll(pattern), (match) => toMarker(kind, match)),
  );
  if (found.length > maxMarkers) return null;
  const markers: Marker[] = [];
  const mentions = text.matchAll(mention);
  let area = { index: 0, end: 0 };
  let end = 0;
  for (const marker of found.filter((one) => one !== null).sort((a, b) => a.index - b.index)) {
    while (area.end <= marker.index) {
      const { value } = mentions.next();
      area = value ? { index: value.index, end: value.index + value[0].length } : { index: text.length, end: Infinity };
    }
    const isMentioned = area.index < marker.index && !marker.kind.startsWith('tag');
    if (isMentioned || marker.index < end) continue;
    markers.push(marker);
    end = marker.end;
  }
  return markers;
}

/** Reading them takes a few milliseconds. */
const maxMarkers = 2_000;

function toMarker(kind: MarkerKind | NamedKind, { 0: text, index, groups }: RegExpExecArray): Marker | null {
  const name = groups?.name?.toLowerCase() ?? (kind.startsWith('tag') ? 'essay' : '');
  const found =
    kind === 'channel-name'
      ? readChannel(name)
      : kind === 'role'
        ? readRole(name)
        : kind === 'token'
          ? readToken(name)
          : kind;
  return found && { kind: found, name, index, end: index + text.length };
}

/** Fences after text, code spans, and markers in quotation marks or parentheses. */
const mention = new RegExp(
  [
    r`(?<=[^\s>\]▷][ \t]*\n{1,3})(?<fence>${'`'}{3,20}|~{3,20})(?! ?(?:think|thought|reason))[^\n<]*\n[\s\S]*?\n\k<fence>[${'`'}~]*[ \t]*(?=\n|$)`,
    r`(?<!${'`'})(?:${'`'}[^${'`'}\n]{1,200}${'`'}|${'``'}(?!${'`'})(?:[^${'`'}\n]|${'`'}(?!${'`'})){1,200}${'``'})(?!${'`'})`,
    r`(?:(?<![\p{L}\p{N}.!?…])["']|[“‘«„(])[ \u00a0]?[<[◁][^"”’»“)\n]{1,80}?[ \u00a0]?["'”’»“)]`,
  ].join('|'),
  'gu',
);

function readChannel(name: string): MarkerKind {
  return answerNames.test(name) ? 'answer' : 'channel';
}

function readRole(role: string): MarkerKind {
  if (/^(?:user|human|system|developer|tool|function|observation|ipython|environment|context)$/.test(role))
    return 'end';
  if (/^(?:think|thinking|thought|reasoning)$/.test(role)) return 'channel';
  return answerNames.test(role) ? 'answer' : 'turn';
}

const answerNames = /^(?:final|answer|response)$/;

/**
 * `<|im_end|>`, `<|END_OF_TURN_TOKEN|>` and `<｜end▁of▁sentence｜>` are `im_end`, `end_of_turn` and `end_of_sentence`. Null for other
 * texts between bars, such as `<|x|>` in physics.
 */
function readToken(token: string): MarkerKind | null {
  const name = token
    .replace('/', 'end_')
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_|_$|_token_?$/g, '');
  return tokens.find(([, pattern]) => pattern.test(name))?.[0] ?? null;
}

const tokens: readonly [MarkerKind, RegExp][] = [
  ['message-end', /^end$/],
  [
    'thought-end',
    RegExp(
      `^(?:end|stop)_(?:of_)?(?:[a-z]+_)?(?:${thought})$|^(?:[a-z]+_)?(?:${thought})_(?:end|stop)$|^inner_suffix$`,
    ),
  ],
  ['thought', RegExp(`^(?:[a-z]+_){0,3}(?:${thought})(?:_begin|_start)?$|^inner_prefix$`)],
  ['answer', /^(?:(?:begin|start)_(?:of_)?)?(?:solution|response|answer|output|final|content)(?:_begin|_start)?$/],
  ['turn', /^(?:start_(?:of_turn|message)|(?:im_|hy_)?(?:assistant|model|ai|bot|chatbot|gpt)(?:_start)?)$/],
  [
    'noise',
    /^(?:im_sep|im_middle|end_header_id|header_end|end_of_role|message|constrain|(?:begin|end)_of_box|(?:begin|start)_?(?:of_?)?(?:text|sentence)|bos|sot|bom|pad|flush|end_?of_?prompt|(?:image|audio|video|vision|reserved|unused|extra|placeholder|object|quad|fim)(?:_\w*)?)$/,
  ],
  [
    'end',
    /^(?:im_)?end(?:_\w+|of\w+)$|^(?:im|assistant|user|system|turn|role|message|response|answer|solution|content)_end$|^eo[a-z]{1,3}(?:_id)?$|^(?:return|call|stop|separator|refusal)$|^(?:begin_|start_)?(?:tool|function|python|action)(?:_?[a-z]+)*$|^(?:im_|hy_)?(?:user|human|system|developer|observation|ipython|environment|context)(?:_start)?$/,
  ],
];
