import { afterEach, describe, expect, it, vi } from 'vitest';
import type { EssayOrder } from '../../../src/self-hosted/essays/essay-writer.ts';
import { createLlmWriter } from '../../../src/self-hosted/essays/llm/llm-writer.ts';
import { countWords } from '../../../src/self-hosted/essays/words.ts';
import { type ChatScript, tChatServer } from '../../chat-server.ts';

const apiKey = 'sk-nobody-may-see-this';
const order: EssayOrder = {
  description: 'Bees in cities.\n\nWriting purpose: argumentative.\n\nTitle options: City Bees, Why Bees?.',
  mode: 'Academic',
  wordCount: 50,
};
const calm = () => new AbortController().signal;

async function tWriter(script: ChatScript, options: { apiKey?: string | null; maxAnswerBytes?: number } = {}) {
  const server = await tChatServer(script);
  const writer = createLlmWriter({ url: server.url, apiKey, model: 'llama', timeoutMs: 60_000, ...options });
  return {
    server,
    write: (changes: Partial<EssayOrder> = {}, signal = calm()) => writer.write({ ...order, ...changes }, signal),
  };
}

afterEach(() => {
  vi.useRealTimers();
});

describe('what the model is asked', () => {
  it('names the mode, the purpose, the limit, the titles and the description', async () => {
    const { server, write } = await tWriter({ kind: 'stream', pieces: ['Bees.'] });
    await write();
    const [call] = server.calls;
    expect(call?.path).toBe('/v1/chat/completions');
    expect(call?.headers).toMatchObject({ authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' });
    expect(call?.body).toMatchObject({ model: 'llama', stream: true });
    expect(call?.body.messages.map(({ role }) => role)).toEqual(['system', 'user']);
    const [system, user] = call?.body.messages.map(({ content }) => content) ?? [];
    expect(system).toMatch(/Academic.*argumentative.*50.*"City Bees", "Why Bees\?"/s);
    expect(user).toContain('Bees in cities.');
    expect(user).not.toContain('Title options');
  });

  it('is sent without authorization when there is no key', async () => {
    const { server, write } = await tWriter({ kind: 'stream', pieces: ['Bees.'] }, { apiKey: null });
    await write();
    expect(server.calls[0]?.headers).not.toHaveProperty('authorization');
  });

  it('goes to the endpoint itself where the URL names it', async () => {
    const server = await tChatServer({ kind: 'json', content: 'Bees.' });
    const url = `${server.url}/chat/completions`;
    await createLlmWriter({ url, apiKey, model: 'llama', timeoutMs: 60_000 }).write(order, calm());
    expect(server.calls[0]?.path).toBe('/v1/chat/completions');
  });
});

describe('what the model answers', () => {
  it.each<[string, ChatScript]>([
    ['as a stream', { kind: 'stream', pieces: ['Bees ', 'fly', ' — 🐝', '!'] }],
    ['as a stream cut within characters', { kind: 'stream', pieces: ['Bees fly', ' — 🐝!'], bytesPerChunk: 1 }],
    ['as JSON', { kind: 'json', content: 'Bees fly — 🐝!' }],
    [
      'as JSON in parts',
      { kind: 'json', content: [{ type: 'text', text: 'Bees fly' }, { type: 'x' }, { text: ' — 🐝!' }] },
    ],
    ['after reasoning', { kind: 'stream', pieces: ['<thi', 'nk>I must', ' think</th', 'ink>\n\nBees fly — 🐝!'] }],
    ['after reasoning, as JSON', { kind: 'json', content: '<think>\nhm\n</think>\nBees fly — 🐝!' }],
    [
      'after reasoning that began in the prompt',
      { kind: 'stream', pieces: ['I must think', '</think>Bees fly — 🐝!'] },
    ],
  ])('%s is its text', async (_how, script) => {
    const { write } = await tWriter(script);
    expect(await write()).toBe('Bees fly — 🐝!');
  });

  it('may come among chunks of other shapes', async () => {
    const text = (content: string) => JSON.stringify({ choices: [{ delta: { content } }] });
    const { write } = await tWriter({
      kind: 'events',
      data: [
        '{"usage":{}}',
        '{"choices":[]}',
        '[]',
        text('Bees '),
        '{"choices":[{"delta":{"role":"assistant"}}]}',
        text('fly.'),
        '[DONE]',
        'junk',
      ],
    });
    expect(await write()).toBe('Bees fly.');
  });

  it('may end with a finish reason alone', async () => {
    const { write } = await tWriter({
      kind: 'events',
      data: ['{"choices":[{"delta":{"content":"Bees fly."},"finish_reason":"stop"}]}'],
    });
    expect(await write()).toBe('Bees fly.');
  });

  it('loses the half sentence where the model ran out of tokens', async () => {
    const { write } = await tWriter({ kind: 'stream', pieces: ['Bees fly. They also mak'], finish: 'length' });
    expect(await write()).toBe('Bees fly.');
  });

  it('is cut at the limit, on a sentence end', async () => {
    const { write } = await tWriter({ kind: 'json', content: 'One two three. Four five six. Seven eight.' });
    expect(await write({ wordCount: 7 })).toBe('One two three. Four five six.');
  });

  it('is stopped once there is enough of it', async () => {
    const { server, write } = await tWriter({ kind: 'endless', piece: 'Bees fly on. ' });
    const text = await write();
    expect(countWords(text)).toBe(48);
    await server.hungUp;
  });
});

describe('a writing fails, without a word about where and with what,', () => {
  const secret = 'upstream says sk-nobody-may-see-this at 127.0.0.1';
  it.each<[string, ChatScript]>([
    ['when the answer is cut in the middle', { kind: 'cut', pieces: ['Bees '] }],
    ['when the stream ends without an end', { kind: 'events', data: ['{"choices":[{"delta":{"content":"Bees"}}]}'] }],
    [
      'when the stream reports an error',
      { kind: 'events', data: [JSON.stringify({ error: { message: secret } }), '[DONE]'] },
    ],
    ['when the stream is not JSON', { kind: 'events', data: [secret, '[DONE]'] }],
    ['at an error status', { kind: 'status', status: 401, body: secret }],
    ['at a redirect', { kind: 'status', status: 302, body: secret }],
    ['when the answer is not JSON', { kind: 'body', contentType: 'application/json', body: secret }],
    ['when the answer is a page', { kind: 'body', contentType: 'text/html', body: `<html>${secret}</html>` }],
    [
      'when the answer is no chat completion',
      { kind: 'body', contentType: 'application/json', body: JSON.stringify({ error: secret }) },
    ],
    ['when the answer is empty', { kind: 'json', content: ' ' }],
    ['when the stream is empty', { kind: 'stream', pieces: [] }],
    ['when there is nothing but reasoning', { kind: 'stream', pieces: ['<think>Bees are', ' insects.'] }],
    ['when the answer is withheld', { kind: 'stream', pieces: ['Bees'], finish: 'content_filter' }],
  ])('%s', async (_when, script) => {
    const { server, write } = await tWriter(script);
    const failure = await write().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Error);
    expect(String(failure)).toMatch(/^WritingError: The language model/);
    for (const hidden of [apiKey, server.url, '127.0.0.1', 'upstream says']) {
      expect(JSON.stringify([String(failure), (failure as Error).cause ?? null])).not.toContain(hidden);
    }
    expect(server.calls).toHaveLength(1);
  });

  it('when nobody listens', async () => {
    const writer = createLlmWriter({ url: 'http://127.0.0.1:1/v1', apiKey, model: 'llama', timeoutMs: 60_000 });
    await expect(writer.write(order, calm())).rejects.toThrow('The language model was lost (ECONNREFUSED).');
  });

  it('when the answer is larger than any essay', async () => {
    const { write } = await tWriter({ kind: 'endless', piece: '' }, { maxAnswerBytes: 10_000 });
    await expect(write()).rejects.toThrow('The language model wrote more than 10000 bytes.');
  });
});

describe('time', () => {
  it('is up at the deadline, which ends the call', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { server, write } = await tWriter({ kind: 'silence' });
    const failure = expect(write()).rejects.toThrow('The language model was not done within 60000 ms.');
    await server.called;
    vi.advanceTimersByTime(60_000);
    await failure;
    await server.hungUp;
  });

  it('is up when the caller goes, which ends the call', async () => {
    const { server, write } = await tWriter({ kind: 'silence' });
    const caller = new AbortController();
    const failure = expect(write({}, caller.signal)).rejects.toThrow('The writing was called off.');
    await server.called;
    caller.abort();
    await failure;
    await server.hungUp;
  });

  it('leaves no timer behind', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const cleared = vi.spyOn(globalThis, 'clearTimeout');
    const { write } = await tWriter({ kind: 'json', content: 'Bees.' });
    await write();
    expect(cleared).toHaveBeenCalled();
  });
});
