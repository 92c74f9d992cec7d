// cspell:ignore suis mais peux vous
import { describe, expect, it, vi } from 'vitest';
import { createLlmWriter } from '../../src/essay-service/llm/llm-writer.ts';
import type { WritingOrder } from '../../src/essay-service/writing-order.ts';
import { type ChatScript, tChatServer } from '../support/essay-service/service.ts';

const apiKey = 'sk-a-secret-key';
const order: WritingOrder = {
  description: 'Bees in cities.\n\nWriting purpose: argumentative.',
  mode: 'Academic',
  wordCount: 10,
};
const neverAborted = () => new AbortController().signal;

const stream = (...pieces: string[]): ChatScript => ({ kind: 'stream', pieces });
const json = (content: unknown): ChatScript => ({ kind: 'json', content });
const events = (...data: string[]): ChatScript => ({ kind: 'events', data });
const ofType = (contentType: string, body: string): ChatScript => ({ kind: 'body', contentType, body });

async function tWriter(script: ChatScript, options: { apiKey?: string | null; maxAnswerBytes?: number } = {}) {
  const server = await tChatServer(script);
  const writer = createLlmWriter({ url: server.url, apiKey, model: 'llama', timeoutMs: 60_000, ...options });
  return {
    server,
    write: (changes: Partial<WritingOrder> = {}, signal = neverAborted()) =>
      writer.write({ ...order, ...changes }, signal),
  };
}

describe('the prompt', () => {
  it('contains the mode, the limit and the description as it is, and asks for an object by its schema', async () => {
    const { server, write } = await tWriter(stream('Bees.'));
    await write();
    const [call] = server.calls;
    expect(call?.path).toBe('/v1/chat/completions');
    expect(call?.headers).toMatchObject({ authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' });
    expect(call?.body).toMatchObject({ model: 'llama', stream: true, response_format: { type: 'json_schema' } });
    expect(call?.body.messages.map(({ role }) => role)).toEqual(['system', 'user']);
    const [system, user] = call?.body.messages.map(({ content }) => content) ?? [];
    expect(system).toMatch(/Academic.*never more than 10,.*\{"essay": "\.\.\."\}/s);
    expect(user).toContain(order.description);
  });

  it.each([400, 422, 501])(
    'is sent again without a schema, from then on, where the endpoint refuses it with %i',
    async (status) => {
      const refusal: ChatScript = { kind: 'status', status, body: '{}' };
      const server = await tChatServer(refusal, json('{"essay":"Bees."}'));
      const writer = createLlmWriter({ url: server.url, apiKey, model: 'llama', timeoutMs: 60_000 });
      expect(await writer.write(order, neverAborted())).toBe('Bees.');
      expect(await writer.write(order, neverAborted())).toBe('Bees.');
      expect(server.calls.map(({ body }) => 'response_format' in body)).toEqual([true, false, false]);
    },
  );

  it('is sent without authorization if there is no key', async () => {
    const { server, write } = await tWriter(stream('Bees.'), { apiKey: null });
    await write();
    expect(server.calls[0]?.headers).not.toHaveProperty('authorization');
  });

  it('is sent to the endpoint if the URL contains its path', async () => {
    const server = await tChatServer(json('Bees.'));
    const url = `${server.url}/chat/completions`;
    await createLlmWriter({ url, apiKey, model: 'llama', timeoutMs: 60_000 }).write(order, neverAborted());
    expect(server.calls[0]?.path).toBe('/v1/chat/completions');
  });
});

describe('the answer', () => {
  const delta = (content: string) => JSON.stringify({ choices: [{ delta: { content } }] });
  const roleOnly = '{"choices":[{"delta":{"role":"assistant"}}]}';

  it.each<[string, ChatScript]>([
    ['as a stream', stream('Bees ', 'fly', ' — 🐝', '!')],
    ['as a stream with split characters', { kind: 'stream', pieces: ['Bees fly', ' — 🐝!'], bytesPerChunk: 1 }],
    ['as JSON', json('Bees fly — 🐝!')],
    ['as JSON in parts', json([{ type: 'text', text: 'Bees fly' }, { type: 'x' }, { text: ' — 🐝!' }])],
    ['after reasoning', stream('<thi', 'nk>I must', ' think</th', 'ink>\n\nBees fly — 🐝!')],
    ['after reasoning, as JSON', json('<think>\nhm\n</think>\nBees fly — 🐝!')],
    ['in an object', stream('{"ess', 'ay":"Bees fly', ' — ', '🐝!"}')],
    [
      'among chunks of other shapes',
      events('{"usage":{}}', '{"choices":[]}', '[]', delta('Bees '), roleOnly, delta('fly — 🐝!'), '[DONE]', 'junk'),
    ],
    [
      'with only a finish reason at its end',
      events('{"choices":[{"delta":{"content":"Bees fly — 🐝!"},"finish_reason":"stop"}]}'),
    ],
  ])('%s is returned as text', async (_how, script) => {
    const { write } = await tWriter(script);
    expect(await write()).toBe('Bees fly — 🐝!');
  });

  it('loses its incomplete sentence if the model runs out of tokens', async () => {
    const { write } = await tWriter({ kind: 'stream', pieces: ['Bees fly. They also mak'], finish: 'length' });
    expect(await write({ wordCount: 6 })).toBe('Bees fly.');
  });

  it('has the ordered words in a script without spaces', async () => {
    const { write } = await tWriter(stream(...Array.from({ length: 50 }, () => '蜜蜂在城市里飞。')));
    // Seven letters per sentence, two per word.
    expect(await write({ wordCount: 14 })).toBe('蜜蜂在城市里飞。'.repeat(4));
  });

  it.each<[string, string, string, number, string | null]>([
    ['keeps its last sentence if it is whole', 'Bees fly. They sleep.', 'length', 10, 'Bees fly. They sleep.'],
    ['keeps no sentence that may end within a number', 'Bees fly. They cost 3.', 'length', 6, 'Bees fly.'],
    ['keeps no incomplete item of a list', 'Bees fly.\n\n- They', 'length', 6, 'Bees fly.'],
    ['is shortened only if it is too long', 'Bees fly. They sleep and mak', 'length', 5, 'Bees fly.'],
    ['is counted without spaces', '蜜蜂在城市里飞翔。它们寻找花', 'length', 9, '蜜蜂在城市里飞翔。'],
    ['fails with less than a third of the words', 'Bees fly. They also mak', 'length', 7, null],
    ['fails without a whole sentence', 'Bees fly and', 'length', 3, null],
  ])('%s, if it was cut off', async (_, content, finish, wordCount, expected) => {
    const { write } = await tWriter({ kind: 'stream', pieces: [content], finish });
    const essay = await write({ wordCount }).catch(String);
    const message = 'The language model was cut off before it had written a third of the ordered words.';
    expect(essay).toBe(expected ?? `WritingError: ${message}`);
  });

  it.each([
    ["I'm sorry, but I can't help with that.", 10],
    ['I cannot write about bees in cities, because they sting.', 12],
    ["Unfortunately, I won't be able to write about bees. I can't complete this request.", 20],
    ['As an AI language model, I have no opinion on bees.', 15],
    ['Before I write about the bees, which level is it for?', 15],
    ['Could you please tell me more about the bees?', 12],
    ['Je suis désolé, mais je ne peux pas vous aider.', 30],
    ['The weather is fine today. It will rain tomorrow.', 30],
    ['{"essay":"I cannot help with that request."}', 30],
  ])('fails if it refuses the order, or is about something else: %s', async (answer, wordCount) => {
    const { write } = await tWriter(stream(answer));
    const failure = 'The language model refused to write the essay, or wrote a short text about something else.';
    expect(await write({ wordCount }).catch(String)).toBe(`WritingError: ${failure}`);
  });

  it.each([
    ['is about the description', 'A bee is small, and bees like cities.', 60],
    ['has most of the ordered words', 'The weather is fine today.', 7],
    ['is in the object', '{"essay":"The weather is fine today. It will rain tomorrow."}', 30],
    ['is in another script', '蜜蜂在城市里飞。它们在花园里寻找花朵。', 30],
    ['tells of a person who is sorry', 'I am sorry that bees cannot sing, said the keeper.', 20],
  ])('is an essay if it %s', async (_, answer, wordCount) => {
    const { write } = await tWriter(stream(answer));
    expect(await write({ wordCount })).toBe(answer.replaceAll(/^\{"essay":"|"\}$/g, ''));
  });

  it.each(['text/plain', 'application/json', 'application/octet-stream'])(
    'is a stream, although its type is %s',
    async (contentType) => {
      const script = ofType(
        contentType,
        `${[delta('Bees '), delta('fly.'), '[DONE]'].map((data) => `data: ${data}\n\n`).join('')}`,
      );
      const { write } = await tWriter(script);
      expect(await write()).toBe('Bees fly.');
    },
  );

  it('fails with less than a tenth of the words', async () => {
    const { write } = await tWriter(stream('Bees like it here.'));
    const failure = 'WritingError: The language model wrote less than a tenth of the ordered words.';
    expect(await write({ wordCount: 40 })).toBe('Bees like it here.');
    expect(await write({ wordCount: 41 }).catch(String)).toBe(failure);
  });

  it('is cut at the limit, after a sentence', async () => {
    const { write } = await tWriter(json('One two three. Four five six. Seven eight.'));
    expect(await write({ wordCount: 7 })).toBe('One two three. Four five six.');
  });

  it('is shown in whole sentences while it is written, and begins with what was shown', async () => {
    const sentences =
      'Bees fly. Dr. Ink says so, at 3.5 m a day. “Why?” 蜜蜂在城市里飞。它们睡觉。 Wait… they sleep (see above). And so on.';
    const pieces = JSON.stringify({ essay: `City Bees\n\n${sentences}\n\n${sentences}` }).match(/[\s\S]{1,3}/g) ?? [];
    for (const wordCount of [10, 17, 23, 200]) {
      const server = await tChatServer(stream(...pieces));
      const writer = createLlmWriter({ url: server.url, apiKey, model: 'llama', timeoutMs: 60_000 });
      const parts: string[] = [];
      const essay = await writer.write({ ...order, wordCount }, neverAborted(), (part) => parts.push(part));
      expect(parts.length).toBeGreaterThan(0);
      expect(essay.startsWith(parts.join(''))).toBe(true);
      for (const part of parts) expect(part.trim()).toMatch(/[.!?…。”]$|^City Bees/);
    }
  });
});

describe('the writer fails, with a message without URL and key,', () => {
  const secret = 'upstream says sk-a-secret-key at 127.0.0.1';
  it.each<[string, ChatScript, number?]>([
    ['when the connection closes during the answer', { kind: 'cut', pieces: ['Bees '] }],
    ['when the stream ends without a finish reason', events('{"choices":[{"delta":{"content":"Bees"}}]}')],
    ['when the stream reports an error', events(JSON.stringify({ error: { message: secret } }), '[DONE]')],
    ['when the stream is not JSON', events(secret, '[DONE]')],
    ['at an error status', { kind: 'status', status: 401, body: secret }],
    ['at an error status of both requests', { kind: 'status', status: 400, body: secret }, 2],
    ['at a redirect', { kind: 'status', status: 302, body: secret }],
    ['when the answer is not JSON', ofType('application/json', secret)],
    ['when the answer is HTML', ofType('text/html', `<html>${secret}</html>`)],
    ['when the answer is not a chat completion', ofType('application/json', JSON.stringify({ error: secret }))],
    ['when the answer is empty', json(' ')],
    ['when the stream is empty', stream()],
    ['when there is only reasoning', stream('<think>Bees are', ' insects.')],
    ['when the answer is withheld', { kind: 'stream', pieces: ['Bees'], finish: 'content_filter' }],
  ])('%s', async (_when, script, calls = 1) => {
    const { server, write } = await tWriter(script);
    const failure = await write().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Error);
    expect(String(failure)).toMatch(/^WritingError: The language model/);
    for (const hidden of [apiKey, server.url, '127.0.0.1', 'upstream says']) {
      expect(JSON.stringify([String(failure), (failure as Error).cause ?? null])).not.toContain(hidden);
    }
    expect(server.calls).toHaveLength(calls);
  });

  it('when the endpoint does not listen', async () => {
    const writer = createLlmWriter({ url: 'http://127.0.0.1:1/v1', apiKey, model: 'llama', timeoutMs: 60_000 });
    const message = 'The language model request failed (ECONNREFUSED).';
    await expect(writer.write(order, neverAborted())).rejects.toThrow(message);
  });

  it('when the answer is larger than any essay', async () => {
    const { write } = await tWriter({ kind: 'endless', piece: '' }, { maxAnswerBytes: 10_000 });
    await expect(write()).rejects.toThrow('The language model sent more than 10000 bytes.');
  });
});

describe('the time limit', () => {
  it('aborts the request at the deadline', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { server, write } = await tWriter({ kind: 'silence' });
    const failure = expect(write()).rejects.toThrow('The language model did not finish within 60000 ms.');
    await server.called;
    vi.advanceTimersByTime(60_000);
    await failure;
    await server.disconnected;
  });

  it('is not needed when the caller disconnects, which aborts the request', async () => {
    const { server, write } = await tWriter({ kind: 'silence' });
    const caller = new AbortController();
    const failure = expect(write({}, caller.signal)).rejects.toThrow('The caller disconnected.');
    await server.called;
    caller.abort();
    await failure;
    await server.disconnected;
  });
});
