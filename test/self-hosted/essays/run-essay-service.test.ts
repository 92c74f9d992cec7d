import { describe, expect, it } from 'vitest';
import { createEssayWriter, describeWriter } from '../../../src/self-hosted/essays/run-essay-service.ts';
import { tChatServer } from '../../support/chat-server.ts';
import { tCommand } from '../../support/process.ts';

const body = { description: 'bees', mode: 'Standard', word_count: 50 };
const keys = { ESSAY_API_KEY: 'right-key', ESSAY_SERVICE_PORT: '0' };

async function post(url: string | undefined, token: string): Promise<Response> {
  const headers = { token, 'content-type': 'application/json' };
  return fetch(`${url}/v2/generate/essay/`, { method: 'POST', headers, body: JSON.stringify(body) });
}

it.each(['SIGTERM', 'SIGINT'] as const)(
  'serves until %s, and prints its address and that the writer is not a model',
  async (signal) => {
    const service = tCommand(['essay-service'], keys);
    const [, url] = await service.printed(
      /^The essay service listens on (http:\/\/127\.0\.0\.1:\d+)\nIt writes with an offline drafter, not a language model: .+\n$/,
    );
    expect(await (await post(url, 'right-key')).json()).toEqual({
      essay: expect.stringContaining('bees'),
      word_count: expect.any(Number),
    });
    expect((await post(url, 'wrong-key')).status).toBe(401);
    service.kill(signal);
    expect(await service.ended).toEqual({ code: 0, signal: null });
    expect(service.stderr()).toBe('');
  },
);

it('writes with the configured language model, and prints neither key', async () => {
  const model = await tChatServer(
    { kind: 'stream', pieces: ['Bees fly.'] },
    { kind: 'status', status: 401, body: 'no' },
  );
  const service = tCommand(['essay-service'], {
    ...keys,
    LLM_URL: model.url,
    LLM_MODEL: 'llama',
    LLM_API_KEY: 'model-key',
  });
  const [, url] = await service.printed(/listens on (\S+)\nIt writes with the language model llama\.\n$/);
  expect(await (await post(url, 'right-key')).json()).toEqual({ essay: 'Bees fly.', word_count: 2 });
  expect((await post(url, 'right-key')).status).toBe(500);
  service.kill('SIGTERM');
  expect(await service.ended).toEqual({ code: 0, signal: null });
  expect(service.stderr()).toContain('responded with status 401');
  expect(service.stdout() + service.stderr()).not.toMatch(/right-key|model-key/);
});

it('describes what its configuration lacks', async () => {
  const service = tCommand(['essay-service'], { LLM_URL: 'http://127.0.0.1:1/v1' });
  expect(await service.ended).toEqual({ code: 1, signal: null });
  expect(service.stdout()).toBe('');
  expect(service.stderr()).toContain('ESSAY_API_KEY: missing');
});

describe('the writer', () => {
  const order = { description: 'Bees in cities.', mode: 'Academic', wordCount: 50 } as const;
  const { signal } = new AbortController();

  it('is the language model if one is configured', async () => {
    const server = await tChatServer({ kind: 'json', content: 'By the model.' });
    const llm = { url: server.url, apiKey: 'model-key', model: 'llama', timeoutMs: 60_000 };
    expect(await createEssayWriter(llm).write(order, signal)).toBe('By the model.');
    expect(describeWriter(llm)).toBe('the language model llama');
  });

  it('is otherwise the drafter, described as not a language model', async () => {
    expect(await createEssayWriter(null).write(order, signal)).toContain('bees in cities');
    expect(describeWriter(null)).toContain('not a language model');
  });
});
