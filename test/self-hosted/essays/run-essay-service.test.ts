import { expect, it } from 'vitest';
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
    const answer = { essay: expect.stringContaining('bees'), word_count: expect.any(Number) };
    expect(await (await post(url, 'right-key')).json()).toEqual(answer);
    expect((await post(url, 'wrong-key')).status).toBe(401);
    service.kill(signal);
    expect(await service.ended).toEqual({ code: 0, signal: null });
    expect(service.stderr()).toBe('');
  },
);

it('writes with the configured language model, and prints neither key', async () => {
  const stream = { kind: 'stream', pieces: ['Bees fly.'] } as const;
  const model = await tChatServer(stream, { kind: 'status', status: 401, body: 'no' });
  const llm = { LLM_URL: model.url, LLM_MODEL: 'llama', LLM_API_KEY: 'model-key' };
  const service = tCommand(['essay-service'], { ...keys, ...llm });
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
