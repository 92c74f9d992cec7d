import { describe, expect, it, onTestFinished } from 'vitest';
import { readChatAnswer } from '../../src/essay-service/llm/chat-answer.ts';
import { EssayReader } from '../../src/essay-service/llm/essay-reader.ts';
import { rounds } from '../support/random.ts';

interface Ending {
  /** Null: the server sends none. */
  finish?: string | null;
  /** The events of a stream after the text. */
  after?: readonly object[];
}

type Outcome = { text: string; isCutOff: boolean } | { failure: string };

const limits = { enoughWords: 500, maxBytes: 4_000_000 };

/** Reads a response in the given pieces. */
async function readPieces(
  pieces: Iterable<Uint8Array>,
  options: Partial<Parameters<typeof readChatAnswer>[1]> = {},
): Promise<Outcome> {
  const body = (async function* () {
    yield* pieces;
  })();
  try {
    const { text, isCutOff } = await readChatAnswer(body, { ...limits, ...options });
    return { text, isCutOff };
  } catch (error) {
    return { failure: String(error) };
  }
}

/** The response of an endpoint that does not stream. */
function toWhole(content: unknown, finish: string | null = 'stop', fields: object = {}): Uint8Array {
  const message = { role: 'assistant', content };
  return encode(JSON.stringify({ choices: [{ index: 0, message, finish_reason: finish }], ...fields }));
}

/** The response of an endpoint that streams the pieces of a text. */
function toStream(pieces: readonly unknown[], { finish = 'stop', after = [] }: Ending = {}): Uint8Array {
  const deltas = pieces.map((content) => ({ choices: [{ delta: { content } }] }));
  const end = finish === null ? [] : [{ choices: [{ delta: {}, finish_reason: finish }] }];
  const events = [...deltas, ...after, ...end].map((event) => `data: ${JSON.stringify(event)}\n\n`);
  return encode(events.join(''));
}

/**
 * The same answer in all ways in which it can arrive: whole, and streamed in any events and bytes. What is read does not depend on
 * where bytes are cut, so these are cut between all of them; the text is cut in two.
 */
async function deliverInAllWays(output: string, ending: Ending = {}): Promise<Outcome[]> {
  const oneEvent = toStream([output], ending);
  const everyCharacter = toStream(output.split(''), ending);
  const halves = cuts(output.length).map((at) => toStream([output.slice(0, at), output.slice(at)], ending));
  const streams = [...halves.map((bytes) => [bytes]), splitBytes(oneEvent), [everyCharacter]];
  const whole = toWhole(output, ending.finish);
  const outcomes = [await readPieces([whole]), await readPieces(splitBytes(whole))];
  for (const pieces of streams) outcomes.push(await readPieces(pieces));
  return outcomes;
}

/** Bytes in two pieces, cut at many positions. */
function cutAnywhere(bytes: Uint8Array): Uint8Array[][] {
  return cuts(bytes.length).map((at) => [bytes.subarray(0, at), bytes.subarray(at)]);
}

function splitBytes(bytes: Uint8Array): Uint8Array[] {
  return [...bytes].map((byte) => Uint8Array.of(byte));
}

/** Every twentieth position by default, from one that depends on the length; every second one with TEST_ROUNDS=10. */
function cuts(length: number): number[] {
  const step = Math.ceil(20 / rounds(1));
  const positions = Array.from({ length: Math.max(0, length - 1) }, (_, index) => index + 1);
  return positions.filter((at) => at % step === length % step);
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

const essay = 'City Bees\n\nBees fly over the city. They “think”.';
const notTheObject = {
  failure:
    'WritingError: The language model wrote something other than the object with the essay that it was asked for.',
};

describe('what a model writes', () => {
  const object = JSON.stringify({ essay });

  it.each<[string, string, object]>([
    ['the object', object, { text: essay, isCutOff: false }],
    ['the object with white space', `\n{ "essay" : ${JSON.stringify(essay)} }\n`, { text: essay, isCutOff: false }],
    ['the object within a fence', `\`\`\`json\n${object}\n\`\`\``, { text: essay, isCutOff: false }],
    ['the object after reasoning', `<think>{"essay":"zzsecret"}</think>\n${object}`, { text: essay, isCutOff: false }],
    [
      'the object after reasoning that began in the prompt',
      `zzsecret</think>${object}`,
      { text: essay, isCutOff: false },
    ],
    ['the object and more', `${object} zzsecret`, { text: essay, isCutOff: false }],
    ['the essay as the second field', `{"title":"zzsecret","essay":"Bees."}`, { text: 'Bees.', isCutOff: false }],
    [
      'escapes',
      String.raw`{"essay":"\"Caf\u00e9\" \ud83d\udc1d\\\/\n\tEnd."}`,
      { text: '"Café" 🐝\\/\n\tEnd.', isCutOff: false },
    ],
    [
      'line breaks and escapes that JSON does not have',
      `${String.raw`{"essay":"It\'s\-`}\nhere."}`,
      { text: "It's-\nhere.", isCutOff: false },
    ],
    ['an object that is not closed', object.slice(0, -8), { text: essay.slice(0, -6), isCutOff: true }],
    ['plain text', essay, { text: essay, isCutOff: false }],
    ['plain text after reasoning', `<think>zzsecret</think>\n\n${essay}`, { text: essay, isCutOff: false }],
    ['another object', '{"text":"zzsecret"}', notTheObject],
    ['an object that is not JSON', '{essay: zzsecret}', notTheObject],
    ['a list', '["zzsecret"]', notTheObject],
    ['tokens of a chat template', `<|channel|>zzsecret`, notTheObject],
    ['a turn of another role', `${essay}[/INST] zzsecret`, notTheObject],
    ['a tag', `<essay>${essay}</essay>`, notTheObject],
    ['reasoning alone', '<think>zzsecret', { failure: 'WritingError: The language model wrote no essay.' }],
    ['an empty essay', '{"essay":" "}', { failure: 'WritingError: The language model wrote no essay.' }],
  ])('is read the same, however it is cut: %s', async (_, output, expected) => {
    const outcomes = await deliverInAllWays(output);
    expect(outcomes.length).toBeGreaterThan(2);
    for (const outcome of outcomes) expect(outcome).toEqual(expected);
  });

  it('is certain character by character: what was read is never taken back', () => {
    const reader = new EssayReader();
    let text = '';
    for (const character of object) {
      reader.add(character);
      expect(reader.text.startsWith(text)).toBe(true);
      text = reader.text;
    }
    expect([text, reader.isComplete]).toEqual([essay, true]);
  });
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
    ['an error in an extension', { x_groq: { error: 'secret' } }, failed],
    ['an error code', { error_code: 17, error_msg: 'secret' }, failed],
    ['no error', { error: null, errors: [], error_code: '0', x_groq: { id: 'r' } }, complete],
    ['a success in the form of a vendor', { base_resp: { status_code: 0, status_msg: 'success' } }, complete],
  ])('is a failure if there is %s', async (_, fields, expected) => {
    const stream = toStream([essay], { after: [fields] });
    const outcomes = [
      readPieces([toWhole(essay, 'stop', fields)]),
      ...cutAnywhere(stream).map((pieces) => readPieces(pieces)),
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
      expect(await readPieces(bytes)).toEqual(expected);
    }
  });

  it('is a failure if an event is one', async () => {
    const stream = toStream([essay], { finish: null });
    const event = encode('event: error\ndata: {"message":"secret"}\n\n');
    expect(await readPieces([stream, event])).toEqual(failed);
    expect(await readPieces([stream])).toEqual({
      failure: 'WritingError: The language model ended its answer too early.',
    });
  });
});

describe('the text', () => {
  const parts = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'zzsecret' }] },
    { type: 'reasoning', text: 'zzsecret' },
    { type: 'text', text: 'zzsecret', thought: true },
    { type: 'text', text: essay.slice(0, 20) },
    { type: 'output_text', text: essay.slice(20) },
  ];

  it('is that of the parts with text, without parts with reasoning', async () => {
    const outcomes = [
      readPieces([toWhole(parts)]),
      ...cutAnywhere(toStream([parts])).map((pieces) => readPieces(pieces)),
    ];
    for (const outcome of await Promise.all(outcomes)) expect(outcome).toEqual(complete);
  });

  it.each(['reasoning_content', 'reasoning'])('is not that in the field %s', async (field) => {
    const message = { [field]: 'zzsecret', content: essay };
    const whole = encode(JSON.stringify({ choices: [{ message }] }));
    const stream = toStream([essay], { after: [{ choices: [{ delta: { [field]: 'zzsecret' } }] }] });
    expect(await readPieces([whole])).toEqual(complete);
    expect(await readPieces(splitBytes(stream))).toEqual(complete);
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
    expect(await readPieces([before, stream])).toEqual(complete);
    expect(await readPieces([encode(JSON.stringify({ choices: [{ message: aside }] }))])).toEqual({
      failure: 'WritingError: The language model wrote no essay.',
    });
  });

  it('is that of messages for the reader', async () => {
    const final = { role: 'assistant', channel: 'final', type: 'text', extra_content: { google: { thought: false } } };
    expect(
      await readPieces([
        toStream([essay.slice(0, 5)], {
          finish: null,
          after: [{ choices: [{ delta: { ...final, content: essay.slice(5) }, finish_reason: 'stop' }] }],
        }),
      ]),
    ).toEqual(complete);
  });

  it('is that of the first choice', async () => {
    const others = [
      { index: 1, delta: { content: 'zzsecret' }, message: { content: 'zzsecret' }, finish_reason: 'length' },
    ];
    const stream = toStream([essay], { after: [{ choices: others }] });
    expect(await readPieces([stream])).toEqual(complete);
    const first = { index: 0, message: { content: essay }, finish_reason: 'stop' };
    expect(await readPieces([encode(JSON.stringify({ choices: [...others, first] }))])).toEqual(complete);
  });

  it('is missing if there is only reasoning in a field', async () => {
    const none = { failure: 'WritingError: The language model wrote no essay.' };
    const message = { reasoning_content: 'zzsecret', content: null };
    expect(await readPieces([encode(JSON.stringify({ choices: [{ message }] }))])).toEqual(none);
    expect(await readPieces([toStream([null, '']), encode('data: [DONE]\n\n')])).toEqual(none);
  });
});

describe('a stream', () => {
  const event = (fields: object) => `data: ${JSON.stringify({ choices: [{ index: 0, ...fields }] })}\n\n`;
  const [one, two] = [essay.slice(0, 14), essay.slice(14)];
  const end = event({ delta: {}, finish_reason: 'stop' });

  it.each([
    ['an empty event', 'data:\n\n'],
    ['an event with a space', 'data: \n\n'],
    ['a ping', 'event: ping\ndata: ping\n\n'],
    ['a ping with JSON', 'event: ping\ndata: {"type":"ping"}\n\n'],
    ['a comment', ': keep-alive\n\n'],
  ])('may be kept alive by %s', async (_, keepAlive) => {
    const events = [event({ delta: { content: one } }), event({ delta: { content: two } }), end];
    expect(await readPieces([encode(keepAlive + events.join(keepAlive))])).toEqual(complete);
  });

  it.each([
    ['a word twice', ['ha', 'ha', ' ha.']],
    ['a number that begins with the one before', ['1', '10', ' bees fly.']],
    ['a sentence twice', ['Bees fly over it. ', 'Bees fly over it. ', 'Yes.']],
  ])('may write %s', async (_, pieces) => {
    expect(await readPieces([toStream(pieces)])).toEqual({ text: pieces.join(''), isCutOff: false });
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
    const outcome = await readPieces(body, { enoughWords: 120 });
    return { text: 'text' in outcome ? outcome.text : '', outcome, share: read / pieces.length };
  }

  it.each([
    ['after reasoning', ['<think>zzsecret</think>', '{"essay":"', ...words(4_000)]],
    ['without reasoning', ['{"essay":"', ...words(4_000)]],
  ])('is not read to its end, %s', async (_, pieces) => {
    const { text, share } = await tStream(pieces);
    expect(share).toBeLessThan(0.2);
    expect(text).toMatch(/^(?:Bees fly over it. ){30}/);
  });

  it('is not read after the end of the essay', async () => {
    const { text, share } = await tStream(['{"essay":"Bees fly."', '}', ...words(4_000)]);
    expect(text).toBe('Bees fly.');
    expect(share).toBeLessThan(0.2);
  });

  it('is a failure if it is too long for an essay with its reasoning', async () => {
    const { outcome } = await tStream(['<think>', ...Array.from({ length: 11 }, () => 'a'.repeat(20_000))]);
    expect(outcome).toEqual({ failure: 'WritingError: The language model wrote more than 200000 characters.' });
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
    const bytes = encode('data: {}\n\n'.repeat(20_000));
    expect(await readPieces([...cut(bytes), toStream([essay])])).toEqual(complete);
    // One turn for every 32 KB.
    expect(turns).toBeGreaterThanOrEqual(Math.floor(bytes.length / 32_768));
  });
});
