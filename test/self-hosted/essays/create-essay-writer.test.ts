import { describe, expect, it } from 'vitest';
import { createEssayWriter, describeWriter } from '../../../src/self-hosted/essays/run-essay-service.ts';
import { tChatServer } from '../../support/chat-server.ts';

const order = { description: 'Bees in cities.', mode: 'Academic', wordCount: 50 } as const;
const neverAborted = () => new AbortController().signal;

describe('the writer', () => {
  it('is the language model if one is configured', async () => {
    const server = await tChatServer({ kind: 'json', content: 'By the model.' });
    const llm = { url: server.url, apiKey: 'model-key', model: 'llama', timeoutMs: 60_000 };
    expect(await createEssayWriter(llm).write(order, neverAborted())).toBe('By the model.');
    expect(describeWriter(llm)).toBe('the language model llama');
  });

  it('is otherwise the drafter, described as not a language model', async () => {
    expect(await createEssayWriter(null).write(order, neverAborted())).toContain('bees in cities');
    expect(describeWriter(null)).toContain('not a language model');
  });
});
