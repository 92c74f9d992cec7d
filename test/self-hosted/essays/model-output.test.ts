// Texts of models. cspell:ignore hink nassistantfinal assistantcommentary assistantanalysis longcat endoftext endofturn nzzsecret
// cspell:ignore analysiswe assistantcommentarywe endstartassistantchannelfinalmessage startassistantchannelcommentarymessage
// cspell:ignore endstartassistantchannelanalysismessage assistantchannelfinalmessage

import { describe, expect, it, onTestFinished } from 'vitest';
import {
  cutAnywhere,
  deliverInAllWays,
  encode,
  readPieces,
  splitBytes,
  toStream,
  toWhole,
} from '../../support/self-hosted/essays/deliver.ts';

const essay = 'City Bees\n\nBees — 🐝 — fly. They “think”.';
/** Never in an essay. */
const thought = 'zzsecret: <b>it</b>\n\nI go.';
const noEssay = 'WritingError: The language model wrote no essay, only reasoning or markers.';

/* What a model sends, and the essay in it; null: there is none. Each `thought` is reasoning. */
const rows: [string, string, string | null][] = [
  ['an essay alone', essay, essay],
  ['white space around', `\n\n ${essay}\n`, essay],

  // The harmony format, with its special tokens and without them.
  [
    'harmony',
    `<|channel|>analysis<|message|>${thought}<|end|><|start|>assistant<|channel|>final<|message|>${essay}<|return|>`,
    essay,
  ],
  [
    'harmony without an end',
    `<|channel|>analysis<|message|>${thought}<|end|><|start|>assistant<|channel|>final<|message|>${essay}`,
    essay,
  ],
  ['only the final channel', `<|channel|>final<|message|>${essay}<|end|>`, essay],
  [
    'a commentary before the final channel',
    `<|channel|>commentary<|message|>${thought}<|end|><|start|>assistant<|channel|>final<|message|>${essay}`,
    essay,
  ],
  [
    'a call of a tool before the final channel',
    `<|channel|>commentary to=functions.search <|constrain|>json<|message|>{"zzsecret":1}<|end|><|start|>functions.search to=assistant<|channel|>commentary<|message|>${thought}<|end|><|start|>assistant<|channel|>final <|constrain|>text<|message|>${essay}`,
    essay,
  ],
  [
    'channels without ends',
    `<|channel|>analysis<|message|>${thought}<|channel|>commentary<|message|>${thought}<|channel|>final<|message|>${essay}`,
    essay,
  ],
  [
    'a role that is not a token',
    `<|channel|>analysis<|message|>${thought}<|end|>assistant<|channel|>final<|message|>${essay}`,
    essay,
  ],
  [
    'harmony whose first channel is in the prompt',
    `${thought}<|end|><|start|>assistant<|channel|>final<|message|>${essay}<|return|>`,
    essay,
  ],
  ['another turn in harmony', `<|channel|>final<|message|>${essay}<|end|><|start|>user<|message|>zzsecret`, essay],
  [
    'a second final message',
    `<|channel|>final<|message|>${essay}<|end|><|start|>assistant<|channel|>final<|message|>zzsecret`,
    essay,
  ],
  ['an unknown channel', `<|channel|>plans<|message|>${thought}<|end|>`, null],
  ['only the analysis channel', `<|channel|>analysis<|message|>${thought}<|end|>`, null],
  ['an analysis channel that was cut off', `<|channel|>analysis<|message|>${thought}`, null],
  [
    'only a call of a tool',
    '<|start|>assistant<|channel|>commentary to=functions.x<|message|>{"zzsecret":1}<|call|>',
    null,
  ],
  ['harmony without tokens', `analysis${thought}assistantfinal${essay}`, essay],
  ['harmony without tokens, in lines', `analysis\n${thought}\nassistantfinal\n\n${essay}`, essay],
  [
    'a commentary without tokens',
    `analysis${thought}assistantcommentary to=x json{"zzsecret":1}assistantfinal${essay}`,
    essay,
  ],
  [
    'a message after the final one, without tokens',
    `analysis${thought}assistantfinal${essay}assistantanalysis${thought}`,
    essay,
  ],
  ['only a final message without tokens', `assistantfinal${essay}`, essay],
  ['a final message without its role', `final${essay}`, essay],
  ['an analysis without tokens that was cut off', 'analysisWe zzsecret about bees', null],
  ['an analysis without tokens in small letters', 'analysiswe, zzsecret.', null],
  ['a commentary without tokens in small letters', 'assistantcommentarywe, zzsecret.', null],
  ['an analysis without tokens in a line of its own', 'analysis\nThe user wants zzsecret.', null],
  [
    'harmony whose tokens lost their brackets',
    `channelanalysismessage${thought}endstartassistantchannelfinalmessage${essay}return`,
    essay,
  ],
  [
    'harmony whose tokens lost their brackets, with another message',
    `startassistantchannelcommentarymessage${thought}channelfinalmessage${essay}endstartassistantchannelanalysismessage${thought}`,
    essay,
  ],
  ['a final message whose tokens lost their brackets', `assistantchannelfinalmessage${essay}`, essay],
  ['an analysis alone whose tokens lost their brackets', `channelanalysismessage${thought}`, null],

  // Tags.
  ['think', `<think>${thought}</think>\n\n${essay}`, essay],
  ...[
    'thinking',
    'thought',
    'thoughts',
    'reason',
    'reasoning',
    'reflection',
    'scratchpad',
    'analysis',
    'seed:think',
    'mm:think',
    'antThinking',
    'longcat_think',
    'inner_monologue',
    'chain_of_thought',
  ].map((name): [string, string, string] => [name, `<${name}>\n${thought}\n</${name}>\n${essay}`, essay]),
  ['a tag in capitals', `<THINK>${thought}</THINK>${essay}`, essay],
  ['a doubled tag', `<<think>> zzsecret <</think>> ${essay}`, essay],
  ['a Chinese tag', `<思考>${thought}</思考>${essay}`, essay],
  ['a tag with spaces', `< think >${thought}</ think >${essay}`, essay],
  ['a tag with attributes', `<thinking type="internal" duration='3' n=4>${thought}</thinking>${essay}`, essay],
  ['an escaped tag', `&lt;think&gt;${thought}&lt;/think&gt;${essay}`, essay],
  ['a full-width tag', `＜think＞${thought}＜/think＞${essay}`, essay],
  ['an empty tag', `<think>\n\n</think>\n\n${essay}`, essay],
  ['a tag that closes itself', `<think/>${essay}`, essay],
  ['an opening tag in the prompt', `${thought}\n</think>\n\n${essay}`, essay],
  ['nested tags', `<think>${thought}<think>${thought}</think>${thought}</think>${essay}`, essay],
  [
    'nested tags of two kinds',
    `<thinking>${thought}<reflection>${thought}</reflection>${thought}</thinking>${essay}`,
    essay,
  ],
  ['a nested tag that is not closed', `<thinking>${thought}<reflection>${thought}</thinking>${essay}`, essay],
  ['nested tags, the first in the prompt', `${thought}<think>${thought}</think>${thought}</think>${essay}`, essay],
  ['a tag that the thought mentions', `<think>zzsecret ends with \`</think>\`.</think>${essay}`, essay],
  ['tags of different names', `<think>${thought}</thinking>${essay}`, essay],
  ['two thoughts', `<think>${thought}</think>\n<think>${thought}</think>\n${essay}`, essay],
  ['a thought in the text', `City Bees\n\n<think>${thought}</think>\n\nBees fly.`, 'City Bees\n\nBees fly.'],
  ['a thought in a line', `Bees <think>${thought}</think> fly.`, 'Bees fly.'],
  ['a thought after the text', `${essay}\n<think>${thought}</think>`, essay],
  ['a thought that is not closed', `<think>${thought}`, null],
  ['a nested thought of which one is not closed', `<think>${thought}<think>${thought}</think>${thought}`, null],
  ['a thought alone', `<think>${thought}</think>\n`, null],
  ['a thought alone, opened in the prompt', `${thought}</think>`, null],
  ['a tag for the answer', `<think>${thought}</think><answer>${essay}</answer> zzsecret`, essay],
  ['a tag for the response that is not closed', `<think>${thought}</think>\n<response>\n${essay}`, essay],
  [
    'Open WebUI',
    `<details type="reasoning" done="true"><summary>Thought</summary>${thought}</details>\n${essay}`,
    essay,
  ],
  ['a second closing tag', `<think>${thought}</think>zzsecret b</think>${essay}`, essay],
  ['a second closing tag in a line of its own', `<think>${thought}</think>\nzzsecret b\n</think>\n${essay}`, essay],
  ['a closing tag between quotations', `<think>zzsecret "it"</think>"Bees" fly.`, '"Bees" fly.'],
  ['an end between words, before a role', 'Bees fly <|im_end|> user\nzzsecret', 'Bees fly'],
  ['a second closing tag at the end', `<think>${thought}</think>\n${essay}\n</think>`, essay],
  ['closing tags alone', `${thought}</think>\nzzsecret b\n</think>\n${essay}`, essay],
  ['a summary', `<details>\n<summary>Thinking...</summary>\n${thought}</details>\n\n${essay}`, essay],
  ['a summary with a time', `<details><summary>Thought for 3 seconds</summary>${thought}</details>${essay}`, essay],
  ['a closing tag after words', `zzsecret I write it </think> ${essay}`, essay],
  [
    'a fence that is not closed before a closing tag',
    `zzsecret:\n\`\`\`\nzzsecret\n</think>\n${essay}\n\`\`\`js\n1\n\`\`\``,
    `${essay}\n\`\`\`js\n1\n\`\`\``,
  ],
  [
    'a thought in a longer fence',
    `\`\`\`\`thinking\nzzsecret\n\`\`\`\nzzsecret\n\`\`\`\nzzsecret\n\`\`\`\`\n${essay}`,
    essay,
  ],
  [
    'a thought in a longer fence, with an odd one',
    `\`\`\`\`thinking\nzzsecret\n\`\`\`\nzzsecret\n\`\`\`\`\n${essay}`,
    essay,
  ],
  [
    'a fence around all, an end and another turn',
    `\`\`\`\n${essay}\n\`\`\`<|im_end|>\n\`\`\`\nzzsecret\n\`\`\``,
    essay,
  ],
  ['a final message without tokens whose channel is in the prompt', `zzsecret it.assistantfinal${essay}`, essay],
  ['a final message without tokens in a line of its own', `zzsecret it\nassistantfinal\n\n${essay}`, essay],

  // Brackets, symbols, special tokens, words and fences.
  ['brackets', `[THINK]${thought}[/THINK]${essay}`, essay],
  ['brackets in small letters', `[thinking]${thought}[/thinking]\n${essay}`, essay],
  ['brackets that are not closed', `[THINK]${thought}`, null],
  ['brackets in small letters that are not closed', '[think] The user wants zzsecret', null],
  ['brackets with a capital that are not closed', '[Thinking]\nzzsecret', null],
  ['brackets after a header that are not closed', '<|im_start|>assistant\n[Thought]\nzzsecret', null],
  ['brackets with a word in small letters', `[plan]${thought}[/plan]${essay}`, essay],
  ['brackets closed with another case', `[Thinking]${thought}[/THINKING]${essay}`, essay],
  ...[
    ['[[THINK]]', '[[/THINK]]'],
    ['[[ thinking ]]', '[[ /thinking ]]'],
    ['{think}', '{/think}'],
    ['{{Thought}}', '{{/Thought}}'],
    ['(thinking)', '(/thinking)'],
    ['((Analysis))', '((/Analysis))'],
    ['【思考】', '【/思考】'],
    ['【think】', '【/think】'],
    ['⟨think⟩', '⟨/think⟩'],
    ['‹reasoning›', '‹/reasoning›'],
    ['[begin thinking]', '[end thinking]'],
    ['(Start of Analysis)', '(End of Analysis)'],
  ].flatMap(([open, close]): [string, string, string][] => [
    [`${open} and ${close}`, `${open}\n${thought}\n${close}\n${essay}`, essay],
    [`${open} and ${close} in a line`, `Bees ${open} zzsecret ${close} fly.`, 'Bees fly.'],
  ]),
  ['braces that are not closed', '{think} The user wants zzsecret', null],
  ['double brackets that are not closed', '[[Thinking]] The user wants zzsecret', null],
  ['an opening bracket in the prompt', `${thought}[/THINK]${essay}`, essay],
  ['brackets with BEGIN and END', `[BEGIN THINKING]${thought}[END THINKING]${essay}`, essay],
  ['symbols', `◁think▷${thought}◁/think▷${essay}`, essay],
  ['symbols that are not closed', `◁think▷${thought}`, null],
  [
    'begin and end of thought',
    `<|begin_of_thought|>${thought}<|end_of_thought|>\n<|begin_of_solution|>${essay}<|end_of_solution|>`,
    essay,
  ],
  ['a solution whose thought has no marker', `${thought}<|begin_of_solution|>${essay}<|end_of_solution|>`, essay],
  ['START_THINKING', `<|START_THINKING|>${thought}<|END_THINKING|><|START_RESPONSE|>${essay}<|END_RESPONSE|>`, essay],
  ['inner_prefix', `<|inner_prefix|>${thought}<|inner_suffix|>${essay}<|assistant_end|>`, essay],
  [
    'think and content',
    `<|begin|>assistant<|think|>${thought}<|end|><|begin|>assistant<|content|>${essay}<|end|>`,
    essay,
  ],
  [
    'think and content, the first in the prompt',
    `${thought}<|end|><|begin|>assistant<|content|>${essay}<|end|>`,
    essay,
  ],
  ['unused94', `<unused94>thought\n${thought}<unused95>${essay}`, essay],
  ['the channel of Gemma', `<|channel>thought\n${thought}<channel|>${essay}<turn|>`, essay],
  ['roles for thought and answer', `<|im_start|>think\n${thought}<|im_start|>answer\n${essay}<|im_end|>`, essay],
  [
    'roles for thought and answer, with ends',
    `<|im_start|>think\n${thought}<|im_end|>\n<|im_start|>answer\n${essay}<|im_end|>`,
    essay,
  ],
  [
    'a role for the thought, with ends',
    `<|im_start|>think\n${thought}<|im_end|>\n<|im_start|>assistant\n${essay}<|im_end|>\n<|im_start|>user\nzzsecret`,
    essay,
  ],
  ['a role for the thought alone', `<|im_start|>think\n${thought}<|im_end|>`, null],
  ['a role for the thought before the user', `<|im_start|>think\n${thought}<|im_start|>user\nzzsecret`, null],
  ['a thought process in words', `Here is my thought process:\n${thought}\nHere is my response:\n${essay}`, essay],
  ['a thought process in words alone', `Here's my thought process: ${thought}`, null],
  ['a fence of reasoning', `\`\`\`think\n${thought}\n\`\`\`\n${essay}`, essay],
  [
    'a fence of reasoning with a fence in it',
    `~~~reasoning\n${thought}\n~~~js\n1\n~~~\nzzsecret\n~~~\n${essay}`,
    essay,
  ],
  ['a fence of reasoning that is not closed', `\`\`\`thinking\n${thought}`, null],

  // The end of the turn, and headers.
  ...[
    '<|im_end|>',
    '<|eot_id|>',
    '<|endoftext|>',
    '<|end_of_text|>',
    '</s>',
    '<|end|>',
    '<end_of_turn>',
    '<|return|>',
    '<eos>',
    '[/INST]',
    '[INST]',
    '<｜end▁of▁sentence｜>',
    '<|eom_id|>',
    '<|eot|>',
    '<|END_OF_TURN_TOKEN|>',
    '[|endofturn|]',
    '<turn|>',
    '<|endofturn|>',
    '<|assistant_end|>',
    '<seed:eos>',
    '<|im_start|>user\n',
    '<|user|>',
    '<start_of_turn>user\n',
    '<|start_header_id|>user<|end_header_id|>',
    '<｜User｜>',
    '<|im_start|>assistant\n',
    '[TOOL_CALLS]',
    '<|python_tag|>',
    '<tool_call>',
  ].map((token): [string, string, string] => [token.trim(), `${essay}${token}zzsecret ${token}`, essay]),
  ['the beginning of an end', `${essay}<|im_en`, essay],
  ['the beginning of an end tag', `${essay}\n</`, essay],
  ['an end within a thought', `<think>${thought}<|im_end|>${essay}`, null],
  ['an end before the text', `<|im_end|>${essay}`, null],
  ...[
    '<|start_header_id|>assistant<|end_header_id|>\n\n',
    '<|im_start|>assistant\n',
    '<|im_start|>assistant<|im_sep|>',
    '<start_of_turn>model\n',
    '<|assistant|>',
    '<｜Assistant｜>',
    '<|begin_of_text|>',
    '<s>',
    '<bos>',
    ' [/INST] ',
    '<|turn>model\n',
    '<|start_of_role|>assistant<|end_of_role|>',
    '<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>',
    '<|header_start|>assistant<|header_end|>\n',
    '[|assistant|]',
    '<|im_assistant|>assistant<|im_middle|>',
    '<seed:bos>assistant\n',
  ].map((header): [string, string, string] => [`${header.trim()} first`, header + essay, essay]),
  [
    'a header, a thought and an end',
    `<|im_start|>assistant\n<think>${thought}</think>${essay}<|im_end|>\n<|im_start|>user\nzzsecret`,
    essay,
  ],

  ['control characters', 'Be\u0000es \u001b[1m fly\u007f.\r\nThey\tsleep.\u0085', 'Bees [1m fly.\nThey\tsleep.'],
  ['control characters in a marker', `<thi\u0000nk>${thought}</\u001bthink>${essay}`, essay],
  ['halves of characters', 'Bees \ud83d fly\udc1d 🐝.', 'Bees  fly 🐝.'],

  // A fence around the whole answer.
  ['a fence', `\`\`\`\n${essay}\n\`\`\``, essay],
  ['a fence with a language', `\`\`\`markdown\n${essay}\n\`\`\`\n`, essay],
  ['a fence of tildes', `~~~text\n${essay}\n~~~`, essay],
  ['a fence that is not closed', `\`\`\`markdown\n${essay}`, essay],
  ['a fence after a thought', `<think>${thought}</think>\n\`\`\`\n${essay}\n\`\`\`<|im_end|>`, essay],
  ['a fence around a fence', `\`\`\`md\nA\n\`\`\`js\n1\n\`\`\`\nB\n\`\`\``, 'A\n```js\n1\n```\nB'],
  ['an empty fence', '```\n```', null],
];

/* Texts that must remain as they are. */
const unchanged: [string, string][] = [
  [
    'words of the markers',
    'Analysis\n\nThe final analysis: an assistant may think, reason and reflect. Thought is free.',
  ],
  ['a beginning with analysis', 'analysis of bees is what an assistant does, finally.'],
  ['a beginning with final', 'Final Thoughts\n\nBees fly.'],
  ['a small beginning with final', 'final thoughts of an assistant'],
  ['assistantfinal in the text', 'Servers write “assistantfinal” or assistantfinal between the two.'],
  ['angle brackets', 'If a < b and b > c, then <i>a</i> is <b>less</b>; write <name> or <br/> & &lt;p&gt;.'],
  ['angle brackets and words', 'Bees < thought, and 3 <thinkers> ask a <reasonable> price > 2: <think about it>.'],
  ['brackets', 'He said: “[T]hink again”, and I [think] so. [sic] [1] [Analysis] [INSTITUTE]'],
  [
    'brackets of other kinds',
    'A (thought) is a {reason} in the [[plan]], ⟨rationale⟩ or ‹reflection›.\n\n(END OF ANALYSIS)',
  ],
  ['brackets that begin with a word of the language', '(Reflection) Bees fly. {plan} They sleep.'],
  [
    'a tag in a sentence',
    'In SGML the <analysis> element holds text. <i>So</i> does <reason>, a <thought>, and "<plan>".',
  ],
  ['an escaped tag in a sentence', 'In SGML, &lt;analysis&gt; holds text.'],
  ['a title in small letters', 'analysis\n\nBees fly.'],
  ['a word that ends like a token', 'finally, bees return at the end'],
  ['a label in capitals', '[ANALYSIS] Why bees matter\n\nThey fly.'],
  ['quoted markers', 'Models write `<think>` and "</think>", or ‘[THINK]’, and end with “<|im_end|>” or `</s>`.'],
  ['a quoted marker first', '`<think>` is a tag.'],
  ['a quoted pair', 'Models reason within `<think>...</think>` or "<thinking>…</thinking>" tags.'],
  ['markers in code spans', 'Models write `a <think> b`, `x</think>`, ``a ` <|im_end|>`` or `[/THINK] c` in text.'],
  [
    'markers in a fence in the text',
    'Models write:\n\n```xml\n<think>\nhm\n</think>\nyes<|im_end|>\n```\n\nThen [THINK]-like text follows.'.replace(
      '[THINK]',
      '`[THINK]`',
    ),
  ],
  ['an end in a fence in the text', 'They end:\n~~~\nyes</s>\n<|im_start|>user\n~~~\nThen they stop.'],
  [
    'quoted markers with punctuation',
    'They end with "</think>." or “<|im_end|>,” or « </think> » or «\u00a0<think>\u00a0».',
  ],
  ['markers in parentheses', 'The tag (</think>) and the token (<|im_end|>) end it.'],
  ['a closing tag in a sentence', 'The model writes </think> when it is done. The last is </think>.'],
  [
    'tokens in a sentence',
    'The [EOS] token, x <| stop |> y, a </s> tag and <|im_end|> end a text; so does <|im_start|>.',
  ],
  ['a summary of the text', 'Bees <details><summary>More reasons</summary>fly</details>.'],
  ['struck text', 'Bees are <s>birds</s> insects.'],
  ['physics', 'The mean <|x|> of |x| and <psi|phi> is <x>.'],
  ['operators', 'In F#, f <| g |> h is a pipe; a || b, [|1; 2|] is an array.'],
  ['a fence in the text', 'Bees:\n\n```js\nfly();\n```\n\nThey sleep.'],
  ['a fence at the start of the text', '```\nfly();\n```\n\nThey sleep.'],
  ['two fences', '```js\nfly();\n```\nand\n```js\nsleep();\n```'],
  ['a fence without text before it', 'They sleep.\n```\nfly();\n```'],
  ['tildes', '~~Bees~~ fly ~~~ high.'],
  ['symbols', '◁ Bees ▷ think ◁ and ▷ fly ⟨think⟩.'],
  ['tags for the answer in the text', 'Write <answer>yes</answer> or <output>no</output>.'],
  ['a details element', 'Bees <details><summary>more</summary>fly</details>.'],
  ['a thought process', 'Bees have no thought process: here is my response.'],
  ['CJK', '蜜蜂《思考》【分析】：它们飞翔。'],
  ['code for a prompt', 'Say User: and Assistant: or ### Response: in a prompt.'],
];

describe('what a model writes', () => {
  it.each([...rows, ...unchanged.map(([name, text]): [string, string, string] => [`${name}, unchanged`, text, text])])(
    'is cleaned to the essay alone, however it is cut: %s',
    async (_, output, expected) => {
      const [whole, ...streamed] = await deliverInAllWays(output);
      expect(whole).toEqual(expected === null ? { failure: noEssay } : { text: expected, isCutOff: false });
      expect(streamed.length).toBeGreaterThan(2 * output.length);
      for (const other of streamed) expect(other).toEqual(whole);
      expect(JSON.stringify(whole)).not.toContain('zzsecret');
    },
  );
});

const cutOff = { text: essay, isCutOff: true };
const complete = { text: essay, isCutOff: false };
const failed = { failure: 'WritingError: The language model reported a failure during its answer.' };
const withheld = { failure: 'WritingError: The language model endpoint withheld the answer.' };
const refused = { failure: 'WritingError: The language model refused to write the essay.' };
const toolCalled = { failure: 'WritingError: The language model called a tool instead of writing the essay.' };

describe('how an answer ends', () => {
  it.each([
    ...['stop', 'STOP', 'eos', 'eos_token', 'end_turn', 'stop_sequence', 'COMPLETE', 'unknown'].map((reason) => [
      reason,
      complete,
    ]),
    ...[
      'length',
      'LENGTH',
      'max_tokens',
      'MAX_TOKENS',
      'max-tokens',
      'max_output_tokens',
      'max_completion_tokens',
      'model_length',
      'token_limit',
      'max_length',
      'model_context_window_exceeded',
      'truncated',
      'incomplete',
      'limit',
      'token_budget',
      'budget_exceeded',
      'max_turns',
      'maxCompletionTokens',
      'partial',
    ].map((reason) => [reason, cutOff]),
    ...[
      'content_filter',
      'content-filter',
      'ContentFilter',
      'SAFETY',
      'RECITATION',
      'blocked',
      'BLOCKLIST',
      'prohibited_content',
      'refusal',
      'guardrail_intervened',
      'sensitive',
      'IMAGE_SAFETY',
      'SPII',
    ].map((reason) => [reason, withheld]),
    ...[
      'error',
      'ERROR',
      'abort',
      'cancelled',
      'timeout',
      'network_error',
      'rate_limit',
      'quota_exceeded',
      'insufficient_system_resource',
      'MALFORMED_RESPONSE',
    ].map((reason) => [reason, failed]),
    ...['tool_calls', 'function_call', 'tool_use'].map((reason) => [reason, toolCalled]),
  ] as [string, object][])('is read from the finish reason "%s"', async (finish, expected) => {
    const outcome = 'text' in expected ? { ...expected, text: 'Bees.' } : expected;
    for (const found of await deliverInAllWays('Bees.', { finish })) expect(found).toEqual(outcome);
  });

  it.each([
    ['text that ended before it', `${essay}<|im_end|>\nzz`],
    ['a thought that was closed after it', `${essay}\n<think>zz</think><|im_end|>`],
  ])('does not cut off %s', async (_, output) => {
    for (const outcome of await deliverInAllWays(output, { finish: 'length' })) expect(outcome).toEqual(complete);
  });

  it.each([
    ['a tag', `${essay}\n<think>zzsecret`],
    ['a tag in a line', `${essay} <think> zzsecret`],
    ['a tag with a word after a sentence', `${essay} <reflection> zzsecret`],
    ['a tag with a word in a line of its own', `${essay}\n<analysis>\nzzsecret`],
    ['a tag before a letter', `${essay} a<analysis>zzsecret`],
    ['brackets', `${essay}\n[THINK]zzsecret`],
    ['a symbol', `${essay}◁think▷zzsecret`],
    ['a fence', `${essay}\n\`\`\`think\nzzsecret`],
    ['a channel', `${essay}<|channel|>analysis<|message|>zzsecret`],
  ])('is within %s that is not closed, so that the text is cut off', async (_, output) => {
    for (const finish of ['stop', 'length']) {
      for (const outcome of await deliverInAllWays(output, { finish })) {
        expect(outcome).toEqual({ text: expect.stringMatching(/^City Bees[\s\S]*“think”\.(?: a)?$/), isCutOff: true });
      }
    }
  });

  const error = { message: 'secret', code: 500 };
  it.each<[string, object, object]>([
    ['an error', { error }, failed],
    ['an error that is a text', { error: 'secret' }, failed],
    ['errors', { errors: [error] }, failed],
    ['an error of the choice', { choices: [{ index: 0, delta: {}, message: { content: essay }, error }] }, failed],
    ['an error of the message', { choices: [{ delta: { error }, message: { content: essay, error } }] }, failed],
    ['an object that is an error', { object: 'error', message: 'secret' }, failed],
    ['a type that is an error', { type: 'error', detail: 'secret' }, failed],
    [
      'a refusal',
      { choices: [{ delta: { refusal: 'No, secret.' }, message: { content: null, refusal: 'No.' } }] },
      refused,
    ],
    [
      'a refusal in parts',
      {
        choices: [
          { delta: { content: [{ type: 'refusal' }] }, message: { content: [{ type: 'refusal', refusal: 'No.' }] } },
        ],
      },
      refused,
    ],
    ['no error', { error: null, errors: [] }, complete],
    ['a success in the form of a vendor', { base_resp: { status_code: 0, status_msg: 'success' } }, complete],
  ])('is a failure if there is %s', async (_, fields, expected) => {
    const stream = toStream([essay], { after: [fields] });
    const outcomes = [
      readPieces([toWhole(essay, 'stop', fields)], false),
      ...cutAnywhere(stream).map((pieces) => readPieces(pieces, true)),
    ];
    for (const outcome of await Promise.all(outcomes)) expect(outcome).toEqual(expected);
  });

  it.each<[string, object, object]>([
    ['a detail', { detail: 'secret' }, failed],
    ['a list of details', { detail: [{ msg: 'secret' }] }, failed],
    ['a status', { status: 500, message: 'secret' }, failed],
    ['a status that is a word', { status: 'FAILED' }, failed],
    ['a code', { code: 'DataInspectionFailed', message: 'secret' }, failed],
    ['a message alone', { message: 'secret' }, failed],
    ['a response of a vendor', { base_resp: { status_code: 1026, status_msg: 'secret' } }, failed],
    ['a response of a vendor with a choice', { choices: [{ delta: {} }], base_resp: { status_code: 1026 } }, failed],
    ['usage', { usage: { total_tokens: 3 } }, complete],
    ['no choices', { choices: [], usage: null, detail: null, code: 0, message: 'success' }, complete],
    ['a status that is a success', { status: 200, message: 'ok' }, complete],
  ])('is read from an event after the text that has %s', async (_, event, expected) => {
    for (const finish of [null, 'stop']) {
      const bytes = [toStream([essay], { after: [event], finish }), encode('data: [DONE]\n\n')];
      expect(await readPieces(bytes, true)).toEqual(expected);
    }
  });

  it('is a failure if an event is one', async () => {
    const stream = toStream([essay], { finish: null });
    const event = encode('event: error\ndata: {"message":"secret"}\n\n');
    expect(await readPieces([stream, event], true)).toEqual(failed);
    expect(await readPieces([stream], true)).toEqual({
      failure: 'WritingError: The language model ended its answer too early.',
    });
  });
});

describe('the text', () => {
  const parts = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'zzsecret' }] },
    { type: 'reasoning', text: 'zzsecret' },
    { type: 'text', text: essay.slice(0, 20) },
    { type: 'output_text', text: essay.slice(20) },
  ];

  it('is that of the parts with text, without parts with reasoning', async () => {
    const outcomes = [
      readPieces([toWhole(parts)], false),
      ...cutAnywhere(toStream([parts])).map((pieces) => readPieces(pieces, true)),
    ];
    for (const outcome of await Promise.all(outcomes)) expect(outcome).toEqual(complete);
  });

  it.each(['reasoning_content', 'reasoning'])('is not that in the field %s', async (field) => {
    const message = { [field]: 'zzsecret', content: essay };
    const whole = encode(JSON.stringify({ choices: [{ message }] }));
    const stream = toStream([essay], { after: [{ choices: [{ delta: { [field]: 'zzsecret' } }] }] });
    expect(await readPieces([whole], false)).toEqual(complete);
    expect(await readPieces(splitBytes(stream), true)).toEqual(complete);
  });

  it.each<[string, object]>([
    ['in the analysis channel', { channel: 'analysis' }],
    ['in the commentary channel', { channel: 'commentary' }],
    ['of the type reasoning', { type: 'reasoning' }],
    ['of a tool', { role: 'tool' }],
    ['marked as a thought', { extra_content: { google: { thought: true } } }],
  ])('is not that of a message %s', async (_, fields) => {
    const aside = { ...fields, content: 'zzsecret' };
    const before = encode(`data: ${JSON.stringify({ choices: [{ index: 0, delta: aside }] })}\n\n`);
    const stream = toStream([essay], { after: [{ choices: [{ index: 0, delta: aside }] }] });
    expect(await readPieces([before, stream], true)).toEqual(complete);
    expect(await readPieces([encode(JSON.stringify({ choices: [{ message: aside }] }))], false)).toEqual({
      failure: 'WritingError: The language model wrote no text.',
    });
  });

  it('is that of messages for the reader', async () => {
    const final = { role: 'assistant', channel: 'final', type: 'text', extra_content: { google: { thought: false } } };
    expect(
      await readPieces(
        [
          toStream([essay.slice(0, 5)], {
            finish: null,
            after: [{ choices: [{ delta: { ...final, content: essay.slice(5) }, finish_reason: 'stop' }] }],
          }),
        ],
        true,
      ),
    ).toEqual(complete);
  });

  it('is that of the first choice', async () => {
    const others = [
      { index: 1, delta: { content: 'zzsecret' }, message: { content: 'zzsecret' }, finish_reason: 'length' },
    ];
    const stream = toStream([essay], { after: [{ choices: others }] });
    expect(await readPieces([stream], true)).toEqual(complete);
    const first = { index: 0, message: { content: essay }, finish_reason: 'stop' };
    expect(await readPieces([encode(JSON.stringify({ choices: [...others, first] }))], false)).toEqual(complete);
  });

  it('is missing if there is only reasoning in a field', async () => {
    const none = { failure: 'WritingError: The language model wrote no text.' };
    const message = { reasoning_content: 'zzsecret', content: null };
    expect(await readPieces([encode(JSON.stringify({ choices: [{ message }] }))], false)).toEqual(none);
    expect(await readPieces([toStream([null, '']), encode('data: [DONE]\n\n')], true)).toEqual(none);
  });
});

describe('a stream that is longer than the essay', () => {
  const sentence = 'Bees fly over it. ';
  const words = (count: number) => Array.from({ length: count / 4 }, () => sentence);

  /** Reads a stream of one piece per event; returns the outcome, and the share of the events that was read. */
  async function tStream(pieces: readonly string[], fields: object = {}) {
    let read = 0;
    const body = (function* () {
      for (const content of pieces) {
        read += 1;
        yield encode(`data: ${JSON.stringify({ choices: [{ delta: { content, ...fields } }] })}\n\n`);
      }
      yield encode('data: [DONE]\n\n');
    })();
    const outcome = await readPieces(body, true, { enoughWords: 120 });
    return { text: 'text' in outcome ? outcome.text : '', outcome, share: read / pieces.length };
  }

  it.each([
    ['thoughts', [`<think>${thought}</think>`, ...words(4_000)]],
    [
      'a thought that was opened in the prompt',
      [...words(2_000).map(() => 'zzsecret more. '), '</think>', ...words(4_000)],
    ],
    ['the final channel', ['<|channel|>final<|message|>', ...words(4_000)]],
  ])('is not read to its end after %s', async (_, pieces) => {
    const { text, share } = await tStream(pieces);
    expect(share).toBeLessThan(0.6);
    expect(text).toMatch(/^(?:Bees fly over it. ){30}/);
    expect(text).not.toContain('zzsecret');
  });

  it('is not read to its end after reasoning in a field of its own', async () => {
    expect((await tStream(words(4_000), { reasoning_content: 'zz' })).share).toBeLessThan(0.5);
  });

  it('is not read after the end of the turn', async () => {
    const { text, share } = await tStream(['Bees fly.', '<|im_end|>', ...words(4_000)]);
    expect(text).toBe('Bees fly.');
    expect(share).toBeLessThan(0.2);
  });

  it('is read further while it may be reasoning', async () => {
    const { text } = await tStream([...words(6_000).map(() => 'zzsecret, zzsecret. '), '</think>', 'Bees fly.']);
    expect(text).toBe('Bees fly.');
  });

  it('is not read for ever', async () => {
    const { text, share } = await tStream(words(40_000));
    expect(share).toBeLessThan(0.3);
    expect(text.startsWith(sentence)).toBe(true);
  });

  it('is a failure if it is too long for an essay with its reasoning', async () => {
    const { outcome } = await tStream(['<think>', ...Array.from({ length: 11 }, () => 'a'.repeat(100_000))]);
    expect(outcome).toEqual({ failure: 'WritingError: The language model wrote more than 1000000 characters.' });
  });

  it.each([
    ['in one chunk', (bytes: Uint8Array) => [bytes]],
    [
      'in a chunk per event',
      (bytes: Uint8Array) =>
        Array.from({ length: bytes.length / 10 }, (_, index) => bytes.subarray(index * 10, index * 10 + 10)),
    ],
  ])('does not keep the process from other work, if it arrives at once %s', async (_, cut) => {
    let turns = 0;
    let timer = setImmediate(function count() {
      turns += 1;
      timer = setImmediate(count);
    });
    onTestFinished(() => clearImmediate(timer));
    const bytes = encode('data: {}\n\n'.repeat(100_000));
    expect(await readPieces([...cut(bytes), toStream([essay])], true)).toEqual(complete);
    // One turn for every 32 KB.
    expect(turns).toBeGreaterThanOrEqual(Math.floor(bytes.length / 32_768));
  });

  it('is a failure if it has more markers than a model writes', async () => {
    expect((await tStream(['<think></think>'.repeat(3_000), essay])).outcome).toEqual({ failure: noEssay });
  });
});
