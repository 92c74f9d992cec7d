import { describe, expect, it } from 'vitest';
import { type ChatScript, tChatServer } from '../../support/essay-service/service.ts';
import { essaysKey, tGateway } from '../../support/gateway.ts';
import { tEssayService } from '../../support/self-hosted.ts';

/* Orders through GraphQL and the self-hosted essay service, with each of its drafters. */

const mutation = `mutation ($input: GenerateEssayInput!) { generateEssay(input: $input) {
  __typename
  ... on Essay { text wordCount mode writer }
  ... on UserError { message }
  ... on InvalidEssayInput { fields { name } }
  ... on EssayAllowanceExhausted { renewsAt }
  ... on EssayServiceFailed { code retryable }
} }`;

const input = { description: 'Fountain pens: the reservoir, the feed and the nib', mode: 'ACADEMIC', wordCount: 120 };
const modelConfig = { apiKey: 'seeded-model-key', model: 'a-model', timeoutMs: 10_000 };

describe('the offline drafter', () => {
  it('is reported as SERVICE if the service is a process of its own', async () => {
    const essaysUrl = await tEssayService();
    const { ask } = tGateway({ essaysUrl, env: { ESSAY_URL: essaysUrl, ESSAY_API_KEY: essaysKey } });
    const { data } = await ask(mutation, { input });
    expect(data?.generateEssay).toMatchObject({ __typename: 'Essay', writer: 'SERVICE' });
  });
});

async function tModel(script: ChatScript) {
  const model = await tChatServer(script);
  return { model, ...tGateway({ essaysUrl: await tEssayService({ llm: { ...modelConfig, url: model.url } }) }) };
}

describe('a language model', () => {
  it('receives mode, purpose, titles, limit and description, and its text is the essay', async () => {
    const { model, ask, log } = await tModel({
      kind: 'stream',
      pieces: ['Pens hold ', 'ink. They ', 'write. They last, and they leak in an airplane.'],
    });
    const { data } = await ask(mutation, { input: { ...input, purpose: 'ARGUMENTATIVE', titles: ['Ink'] } });
    expect(data?.generateEssay).toEqual({
      __typename: 'Essay',
      text: 'Pens hold ink. They write. They last, and they leak in an airplane.',
      wordCount: 13,
      mode: 'ACADEMIC',
      writer: 'MODEL',
    });
    const body = JSON.stringify(model.calls[0]?.body);
    for (const part of ['cademic', 'rgumentative', 'Ink', '120', 'Fountain pens']) expect(body).toContain(part);
    expect(model.calls).toHaveLength(1);
    expect(log()).not.toContain('seeded-model-key');
  });
});
