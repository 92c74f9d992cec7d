import { readChatAnswer } from '../../../src/essay-service/llm/chat-answer.ts';
import { rounds } from '../rounds.ts';

interface Ending {
  /** Null: the server sends none. */
  finish?: string | null;
  /** The events of a stream after the text. */
  after?: readonly object[];
}

type Outcome = { text: string; isCutOff: boolean } | { failure: string };

const limits = { enoughWords: 500, maxBytes: 4_000_000 };

/** Reads a response in the given pieces. */
export async function readPieces(
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
export function toWhole(content: unknown, finish: string | null = 'stop', fields: object = {}): Uint8Array {
  const message = { role: 'assistant', content };
  return encode(JSON.stringify({ choices: [{ index: 0, message, finish_reason: finish }], ...fields }));
}

/** The response of an endpoint that streams the pieces of a text. */
export function toStream(pieces: readonly unknown[], { finish = 'stop', after = [] }: Ending = {}): Uint8Array {
  const deltas = pieces.map((content) => ({ choices: [{ delta: { content } }] }));
  const end = finish === null ? [] : [{ choices: [{ delta: {}, finish_reason: finish }] }];
  const events = [...deltas, ...after, ...end].map((event) => `data: ${JSON.stringify(event)}\n\n`);
  return encode(events.join(''));
}

/**
 * The same answer in all ways in which it can arrive: whole, and streamed in any events and bytes. What is read does not depend on
 * where bytes are cut, so these are cut between all of them; the text is cut in two.
 */
export async function deliverInAllWays(output: string, ending: Ending = {}): Promise<Outcome[]> {
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
export function cutAnywhere(bytes: Uint8Array): Uint8Array[][] {
  return cuts(bytes.length).map((at) => [bytes.subarray(0, at), bytes.subarray(at)]);
}

export function splitBytes(bytes: Uint8Array): Uint8Array[] {
  return [...bytes].map((byte) => Uint8Array.of(byte));
}

/** Every twentieth position by default, from one that depends on the length; every second one with TEST_ROUNDS=10. */
function cuts(length: number): number[] {
  const step = Math.ceil(20 / rounds(1));
  const positions = Array.from({ length: Math.max(0, length - 1) }, (_, index) => index + 1);
  return positions.filter((at) => at % step === length % step);
}

export function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
