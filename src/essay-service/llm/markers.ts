// The markers that language models and their servers leave in a text. `essay-text.ts` decides what they mean for an answer.
// cspell:ignore stpdma ipython endofturn

export interface Marker {
  kind: keyof typeof table;
  /** The name of a tag. */
  name: string;
  index: number;
  /** The index after the marker, and after a role that belongs to it. */
  end: number;
}

const r = String.raw;
const thought = r`(?:think|thinking|thoughts?|reason|reasoning|rationale|reflect|reflections?|scratch_?pad|analysis|monologue|cot|deliberation|introspection|contemplator|contemplation|plan|planning|brainstorm|brainstorming|思考)`;
/** Such as `think`, `seed:think`, `antThinking`, `inner_thoughts`, `chain_of_thought`. */
const thoughtTag = r`(?<name>(?:[a-z]{1,20}[:._-]){0,3}(?:ant)?${thought}(?:[:._-][a-z]{1,20}){0,3})`;
const answerTag = '(?<name>answer|response|output|final|final_answer|final_response|result|solution)';
const attributes = r`(?:\s{1,3}[\w:-]{1,20}\s?=\s?(?:"[^"<>]{0,60}"|'[^'<>]{0,60}'|[^\s"'<>]{1,60})){0,3}`;
/** Also escaped for HTML, Markdown or JSON. */
const opened = r`(?:\\?<{1,2}|＜|&lt;|&#60;|\\u003c)\s{0,3}`;
const closed = r`\s{0,3}(?:\\?>{1,2}|＞|&gt;|&#62;|\\u003e)`;
const marks = '[*_`]{0,3}';
const details = r`<details\b[^<>]{0,100}(?:\btype\s?=\s?["']?reasoning\b[^<>]{0,200}>|>\s{0,10}<summary>[^<>]{0,40}\b(?:thinking|thoughts?|reasoning)\b)`;
const channel = r`(?:<\|channel\|>\s{0,3}|<\|channel>\s?)`;
const toMessage = r`[a-z]{0,30}(?:[^<]{0,200}(?:<\|constrain\|>[^<]{0,60})?<\|message\|>)?`;
const header = r`(?:<\|(?:im_start|im_assistant|begin|start|start_header_id|header_start|start_of_role|turn)\|>|<\|turn>|<start_of_turn>|<seed:bos>|<role>) ?`;
const afterRole = r`(?:</role>|:|(?=\s{0,3}(?:[\n<]|$)|[^<]{0,200}<\|(?:channel|message)\|>))`;
const otherRole = '(?:user|human|system|developer|tool|function|observation|ipython|environment|context)';

/** A special token of one of these names, such as `<|im_end|>`, `<|END_OF_TURN_TOKEN|>`, `<｜end▁of▁sentence｜>`, `[|endofturn|]`. */
const token = (names: string) =>
  r`(?:<[|｜]|\[\|)\s?(?:${names.replaceAll('_', '[_▁ ]?')})(?:_token)?\s?(?:[|｜]>|\|\])`;

/**
 * A text is read in any case of letters, an expression as it is written. A kind before others has precedence at the same place. Blocks of
 * reasoning have any length, all other markers a bounded one.
 */
const table = {
  /** Without a meaning for the answer, also whole blocks of reasoning. */
  noise: [
    r`${opened}${thoughtTag}${attributes}\s{0,3}/${closed}|${details}[\s\S]*?</details>`,
    // Before all text: reasoning in words, under a title, in a quotation.
    r`^\s*Here(?:['’]s| is| are) my (?:thought process|reasoning steps):[\s\S]*?(?:Here(?:['’]s| is) my (?:response|answer):|\[BEGIN FINAL RESPONSE\]|$)`,
    r`^\s*\*\*Thinking(?: process)?:\*\*[\s\S]*?\n-{3,}[ \t]*\n|^\s*[*_]{0,3}Thinking(?:\.{3}|…)[*_]{0,3}[ \t]*\n\s*(?:>[^\n]*(?:\n\s*|$))+`,
    r`^\s{0,20}<s>|<(?:bos|bos_token|pad|sop|sep|special_\d{1,3})>|\[gMASK\]`,
    token(r`im_sep|im_middle|end_header_id|header_end|end_of_role|message|constrain|(?:begin|end)_of_box`),
    token(
      r`(?:begin|start)_(?:of_)?(?:text|sentence)|bos|sot|bom|pad|end_of_prompt|(?:reserved|unused|extra|fim)[\w▁]*`,
    ),
  ],
  /** A final message may follow. */
  'message-end': [token('end')],
  'thought-end': [
    r`${opened}(?:/\s{0,3}|(?:end|stop)_(?:of_)?)${thoughtTag}${closed}|\[/(?:think|thinking|thought|reasoning)\]`,
    token(`(?:/|(?:end|stop)_(?:of_)?)${thought}|${thought}_(?:end|stop)|inner_suffix`),
    /◁\/think▷|<channel\|>|<(?:unused|ctrl)95>|[[［【](?:[/／]|END )(?:THINK|THINKING|THOUGHTS?|REASONING|思考)[\]］】]/gu,
  ],
  thought: [
    r`${opened}${thoughtTag}${attributes}${closed}|${details}|^\s{0,20}\[(?:think|thinking|thought|reasoning)\]`,
    token(`(?:(?:begin|start)_(?:of_)?|inner_|assistant_)?${thought}(?:_begin|_start)?|inner_prefix`),
    /◁think▷|<(?:unused|ctrl)94>(?:thought)?|[[［【](?:BEGIN |START )?(?:THINK|THINKING|THOUGHTS?|REASONING|思考)[\]］】]/gu,
  ],
  /** The answer begins. In some answers, the tokens of channels were lost: `analysis ... assistantfinal ...`. */
  answer: [
    `${channel}(?:final|answer|response)(?![a-z])${toMessage}|${header}(?:final|answer|response)${afterRole}`,
    token('(?:(?:begin|start)_(?:of_)?)?(?:solution|response|answer|output|final|content)(?:_begin|_start)?'),
    /(?:^\s{0,20}|(?<=\n|[.!?…"”’')\]}][ \t]?))assistant ?final(?=[\s\p{Lu}\p{Lo}*#<“"])|^\s{0,20}final(?=[\p{Lu}<])|\[BEGIN FINAL RESPONSE\]/gu,
  ],
  /** A message for others than the reader. */
  channel: [
    `${channel}${toMessage}|${header}(?:think|thinking|thought|reasoning)${afterRole}`,
    /^\s{0,20}(?:assistant)?(?:analysis|commentary)(?=\p{L}|\n\S|[\s\S]*?assistant ?final)|(?<=[.!?…"”’')\]}][ \t]?)assistant(?:analysis|commentary)/gu,
  ],
  /** A tag around the answer. */
  tag: [r`${marks}(?:${opened}essay${attributes}${closed}|(?<![^\n])\[essay\](?=\s))${marks}`, `<${answerTag}>`],
  'tag-end': [r`${marks}(?:${opened}/\s{0,3}essay${closed}|\[/essay\])${marks}`, `</${answerTag}>`],
  /** The end of a turn, a call of a tool, or the header of another role. A text may have been struck out: `<s>birds</s>`. */
  end: [
    header + otherRole + afterRole,
    r`(?<!\S\s{0,3}<s>[^<\n]{0,200})</s>|<(?:turn|tool_call|tool_response)\|>|<\|(?:tool_call|tool_response)>|<(?:tool_calls?|function_calls?)>`,
    r`<(?:eo[stpdma]|end_?of_?(?:turn|text|utterance|sentence)|eos_token|seed:eos)>|\[e~\[`,
    token(r`(?:/|(?:im_)?end_)[\w▁]+|[a-z]+_end|eo[a-z]{1,3}(?:_id)?|return|call|stop|separator|refusal`),
    token(r`(?:begin_|start_)?(?:tool|function|python|action)[\w▁]*|(?:im_|hy_)?${otherRole}(?:_start)?`),
    /\[(?:INST|EOS|EOT|TOOL_CALLS|UNUSED_TOKEN_145|END FINAL RESPONSE)\]|(?<=[.!?…"”’)](?:[ \t]{0,3}\n{1,3})?)user[ \t]{0,3}\n/gu,
  ],
  /** The header of the model's turn. */
  turn: [
    `${header}(?:[a-z]{1,20}${afterRole})?`,
    token('start_of_turn|start_message|(?:im_|hy_)?(?:assistant|model|ai|bot|chatbot|gpt)(?:_start)?'),
    /\[\/INST\]|(?<=^\s{0,20}|[.!?…"”’)](?:[ \t]{0,3}\n{1,3})?)assistant[ \t]{0,3}\n/gu,
  ],
  /** A fence after text, a code span, quotation marks or parentheses: the markers in them are text. */
  mention: [
    /(?<=[^\s>\]▷][ \t]*\n{1,3})(?<fence>`{3,20}|~{3,20})[^\n<]*\n(?!\s{0,3}<essay)[\s\S]*?\n\k<fence>[`~]*[ \t]*(?=[\n<]|$)/gu,
    /(?<!`)(?:`[^`\n]{1,200}`|``(?!`)(?:[^`\n]|`(?!`)){1,200}``)(?!`)/gu,
    /(?:(?<![\p{L}\p{N}.!?…])["']|[“‘«„(])[ \u00a0]?[<[◁][^"”’»“)\n]{1,80}?[ \u00a0]?["'”’»“)]/gu,
  ],
} satisfies Record<string, readonly (string | RegExp)[]>;

const rows = Object.entries(table).flatMap(([kind, sources]) =>
  sources.map((source) => ({ kind, pattern: new RegExp(source, typeof source === 'string' ? 'giu' : 'gu') })),
);

/** The markers of a text in order, without those that it only mentions. Null if there are more than any model writes. */
export function listMarkers(text: string): Marker[] | null {
  const found = rows.flatMap(({ kind, pattern }) =>
    Array.from(text.matchAll(pattern), ({ 0: marker, index, groups }): Marker => {
      const name = groups?.name?.toLowerCase() ?? 'essay';
      return { kind: kind as Marker['kind'], name, index, end: index + marker.length };
    }),
  );
  let end = 0;
  const markers = found
    .sort((a, b) => a.index - b.index)
    .filter((marker) => {
      const isFirst = marker.index >= end;
      if (isFirst) end = marker.end;
      return isFirst && marker.kind !== 'mention';
    });
  return markers.length > maxMarkers ? null : markers;
}

/** Reading them takes a few milliseconds. */
const maxMarkers = 2_000;
