// Tokens of models. cspell:ignore stpdma ipython endofturn

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
  | 'message-end'
  | 'thought-end'
  | 'thought'
  | 'answer'
  | 'channel'
  | 'tag'
  | 'tag-end'
  | 'end'
  | 'turn';

const r = String.raw;
const thought = r`(?:think|thinking|thoughts?|reason|reasoning|rationale|reflect|reflections?|scratch_?pad|analysis|monologue|cot|deliberation|introspection|contemplator|contemplation|plan|planning|brainstorm|brainstorming|思考)`;
/** Such as `think`, `seed:think`, `antThinking`, `inner_thoughts`, `chain_of_thought`. */
const tagName = r`(?<name>(?:[a-z]{1,20}[:._-]){0,3}(?:ant)?${thought}(?:[:._-][a-z]{1,20}){0,3})`;
const attributes = r`(?:\s{1,3}[\w:-]{1,20}\s?=\s?(?:"[^"<>]{0,60}"|'[^'<>]{0,60}'|[^\s"'<>]{1,60})){0,3}`;
/** Also escaped for HTML, Markdown or JSON. */
const opened = r`(?:\\?<{1,2}|＜|&lt;|&#60;|\\u003c)\s{0,3}`;
const closed = r`\s{0,3}(?:\\?>{1,2}|＞|&gt;|&#62;|\\u003e)`;
const bracket = [r`[[({【［⟨‹]{1,2}\s?`, r`\s?[\])}】］⟩›]{1,2}`] as const;
const sureName = '(?:THINK|THINKING|THOUGHTS?|REASONING|思考)';
const answerTag = '(?<name>answer|response|output|final|final_answer|final_response|result|solution)';
const fence = r`(?<![^\n])[ \t]{0,3}(?<fence>${'`'}{3,20}|~{3,20}) ?(?:think|thought|reason)[^\n${'`'}]{0,40}\n`;
const details = r`<details\b[^<>]{0,100}(?:\btype\s?=\s?["']?reasoning\b[^<>]{0,200}>|>\s{0,10}<summary>[^<>]{0,40}\b(?:thinking|thoughts?|reasoning)\b)`;
const comment = r`<!--\s{0,9}${thought}\b`;
const decoration = '[*_`]{0,3}';
const channel = r`(?:<\|channel\|>\s{0,3}|<\|channel>\s?)`;
const header = r`(?:<\|(?:im_start|im_assistant|begin|start|start_header_id|header_start|start_of_role|turn)\|>|<\|turn>|<start_of_turn>|<seed:bos>|<role>) ?`;
const afterRole = r`(?:</role>|:|(?=\s{0,3}(?:[\n<]|$)|[^<]{0,200}<\|(?:channel|message)\|>))`;
const toMessage = r`[a-z]{0,30}(?:[^<]{0,200}(?:<\|constrain\|>[^<]{0,60})?<\|message\|>)?`;
const otherRole = '(?:user|human|system|developer|tool|function|observation|ipython|environment|context)';
const ownRole = '(?:assistant|model|ai|bot|chatbot|gpt)';
const afterSentence = r`(?<=[.!?…"”’')\]}][ \t]?)`;

/** A special token of one of these names, such as `<|im_end|>`, `<|END_OF_TURN_TOKEN|>`, `<｜end▁of▁sentence｜>`, `[|endofturn|]`. */
const token = (names: string) =>
  r`(?:<[|｜]|\[\|)\s?(?:${names.replaceAll('_', '[_▁ ]?')})(?:_token)?\s?(?:[|｜]>|\|\])`;

/** In any case of letters. A kind before others has precedence at the same place. Blocks of reasoning have any length, all others a bounded one. */
const table: Partial<Record<MarkerKind, readonly string[]>> = {
  noise: [
    r`${opened}${tagName}${attributes}\s{0,3}/${closed}`,
    r`${fence}[\s\S]*?\n\k<fence>[ \t]*(?=\n|$)`,
    r`${details}[\s\S]*?</details>`,
    r`${comment}[\s\S]*?-->`,
    // Before all text: reasoning in brackets, in words, in a quotation.
    r`^\s{0,20}${bracket[0]}(?:(?:begin|start)[ _-](?:of[ _-])?)?${thought}${bracket[1]}[\s\S]*?${bracket[0]}(?:/|end[ _-](?:of[ _-])?)\s?${thought}${bracket[1]}`,
    r`^\s*Here(?:['’]s| is| are) my (?:thought process|reasoning steps):[\s\S]*?(?:Here(?:['’]s| is) my (?:response|answer):|\[BEGIN FINAL RESPONSE\]|$)`,
    r`^\s*\*\*Thinking(?: process)?:\*\*[\s\S]*?\n-{3,}[ \t]*\n`,
    r`^\s*[*_]{0,3}Thinking(?:\.{3}|…)[*_]{0,3}[ \t]*\n\s*(?:>[^\n]*(?:\n\s*|$))+`,
    r`^\s{0,20}<s>|<(?:bos|bos_token|pad|sop|sep|special_\d{1,3})>|\[gMASK\]`,
    token(
      'im_sep|im_middle|end_header_id|header_end|end_of_role|message|constrain|(?:begin|end)_of_box|(?:begin|start)_(?:of_)?(?:text|sentence)|bos|sot|bom|pad|end_of_prompt|(?:reserved|unused|extra|image|audio|video|fim)[\\w▁]*',
    ),
  ],
  'message-end': [token('end')],
  'thought-end': [
    r`${opened}(?:/\s{0,3}|(?:end|stop)_(?:of_)?)${tagName}${closed}`,
    r`◁/think▷|<channel\|>|<(?:unused|ctrl)95>`,
    token(`(?:/|(?:end|stop)_(?:of_)?)${thought}|${thought}_(?:end|stop)|inner_suffix`),
  ],
  thought: [
    `${opened}${tagName}${attributes}${closed}`,
    '◁think▷|<(?:unused|ctrl)94>(?:thought)?',
    fence,
    details,
    comment,
    r`^\s{0,20}${bracket[0]}(?:think|thinking|thought|reasoning)${bracket[1]}`,
    token(`(?:(?:begin|start)_(?:of_)?|inner_|assistant_)?${thought}(?:_begin|_start)?|inner_prefix`),
  ],
  answer: [
    `${channel}(?:final|answer|response)(?![a-z])${toMessage}`,
    `${header}(?:final|answer|response)${afterRole}`,
    token('(?:(?:begin|start)_(?:of_)?)?(?:solution|response|answer|output|final|content)(?:_begin|_start)?'),
  ],
  channel: [channel + toMessage, `${header}(?:think|thinking|thought|reasoning)${afterRole}`],
  tag: [
    r`${decoration}(?:${opened}(?<name>essay)${attributes}${closed}|(?<![^\n])\[essay\](?=\s))${decoration}`,
    `<${answerTag}>`,
  ],
  'tag-end': [r`${decoration}(?:${opened}/\s{0,3}(?<name>essay)${closed}|\[/essay\])${decoration}`, `</${answerTag}>`],
  end: [
    header + otherRole + afterRole,
    // A text may have been struck out: `<s>birds</s>`.
    r`(?<!\S\s{0,3}<s>[^<\n]{0,200})</s>`,
    r`<(?:turn|tool_call|tool_response)\|>|<\|(?:tool_call|tool_response)>|<(?:tool_calls?|function_calls?)>`,
    r`<(?:eo[stpdma]|end_?of_?(?:turn|text|utterance|sentence)|eos_token|seed:eos)>|\[e~\[`,
    token(
      `(?:/|(?:im_)?end_)[\\w▁]+|[a-z]+_end|eo[a-z]{1,3}(?:_id)?|return|call|stop|separator|refusal|(?:begin_|start_)?(?:tool|function|python|action)[\\w▁]*|(?:im_|hy_)?${otherRole}(?:_start)?`,
    ),
  ],
  turn: [
    `${header}(?:[a-z]{1,20}${afterRole})?`,
    token(`start_of_turn|start_message|(?:im_|hy_)?${ownRole}(?:_start)?`),
  ],
};

/** In these letters only: in others, they are words of a text. */
const exactTable: typeof table = {
  'thought-end': [r`[[［【](?:[/／]|END )${sureName}[\]］】]`],
  thought: [r`[[［【](?:BEGIN |START )?${sureName}[\]］】]`],
  // Tokens were lost: `analysis ... assistantfinal ...`.
  channel: [
    r`^\s{0,20}(?:start)?(?:assistant)?(?:channel)?(?:analysis|commentary)(?=\p{L}|\n\S|[\s\S]*?assistant ?final)`,
    `${afterSentence}(?:end)?(?:start)?assistant(?:channel)?(?:analysis|commentary)`,
  ],
  answer: [
    r`(?:^\s{0,20}|(?<=\n)|${afterSentence})(?:end)?(?:start)?(?:assistant(?: |channel)?|channel)final(?:message)?(?=[\s\p{Lu}\p{Lo}*#<“"])`,
    r`^\s{0,20}final(?=[\p{Lu}<])|\[BEGIN FINAL RESPONSE\]`,
  ],
  end: [
    r`\[(?:INST|EOS|EOT|TOOL_CALLS|UNUSED_TOKEN_145|END FINAL RESPONSE)\]`,
    r`(?<=[.!?…"”’)](?:[ \t]{0,3}\n{1,3})?)user[ \t]{0,3}\n`,
  ],
  turn: [r`\[/INST\]`, r`(?<=^\s{0,20}|[.!?…"”’)](?:[ \t]{0,3}\n{1,3})?)assistant[ \t]{0,3}\n`],
  noise: [r`\[BOS\]`, `${afterSentence}(?:end|return)\\s{0,20}$`],
};

const rows = [...compile(table, 'giu'), ...compile(exactTable, 'gu')];

function compile(patterns: typeof table, flags: string): { kind: MarkerKind; pattern: RegExp }[] {
  const entries = Object.entries(patterns) as [MarkerKind, readonly string[]][];
  return entries.flatMap(([kind, sources]) => sources.map((source) => ({ kind, pattern: new RegExp(source, flags) })));
}

/** Fences after text, code spans, and markers in quotation marks or parentheses. */
const mention = new RegExp(
  [
    r`(?<=[^\s>\]▷][ \t]*\n{1,3})(?<fence>${'`'}{3,20}|~{3,20})(?! ?(?:think|thought|reason))[^\n<]*\n[\s\S]*?\n\k<fence>[${'`'}~]*[ \t]*(?=[\n<]|$)`,
    r`(?<!${'`'})(?:${'`'}[^${'`'}\n]{1,200}${'`'}|${'``'}(?!${'`'})(?:[^${'`'}\n]|${'`'}(?!${'`'})){1,200}${'``'})(?!${'`'})`,
    r`(?:(?<![\p{L}\p{N}.!?…])["']|[“‘«„(])[ \u00a0]?[<[◁][^"”’»“)\n]{1,80}?[ \u00a0]?["'”’»“)]`,
  ].join('|'),
  'gu',
);

/** The markers of a text in order, without those that it only mentions. Null if there are more than any model writes. */
export function listMarkers(text: string): Marker[] | null {
  const found = rows.flatMap(({ kind, pattern }) =>
    Array.from(text.matchAll(pattern), ({ 0: marker, index, groups }): Marker => {
      return { kind, name: groups?.name?.toLowerCase() ?? 'essay', index, end: index + marker.length };
    }),
  );
  if (found.length > maxMarkers) return null;
  const mentions = Array.from(text.matchAll(mention), ({ 0: area, index }) => ({ index, end: index + area.length }));
  let end = 0;
  return found
    .sort((a, b) => a.index - b.index)
    .filter((marker) => {
      while (mentions[0] && mentions[0].end <= marker.index) mentions.shift();
      const isMentioned = (mentions[0]?.index ?? Infinity) < marker.index && !marker.kind.startsWith('tag');
      if (isMentioned || marker.index < end) return false;
      end = marker.end;
      return true;
    });
}

/** Reading them takes a few milliseconds. */
const maxMarkers = 2_000;
