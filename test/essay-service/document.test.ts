import { expect, it } from 'vitest';
import { tService } from '../support/essay-service/service.ts';

it('the endpoint is documented at /openapi.json, which needs no key', async () => {
  const document = (await tService().app.inject({ url: '/openapi.json' })).json();
  expect(document.openapi).toBe('3.1.0');
  expect(document.components.securitySchemes.token).toEqual({ type: 'apiKey', in: 'header', name: 'token' });
  expect(Object.keys(document.paths)).toEqual(['/v2/generate/essay']);
  const { requestBody, responses, description } = document.paths['/v2/generate/essay'].post;
  const order = requestBody.content['application/json'].schema;
  expect(order.required).toEqual(['description', 'mode', 'word_count']);
  expect(Object.keys(responses)).toEqual(['200', '400', '401', '429', '500']);
  const { content } = responses['200'];
  expect(content['application/json'].schema.required).toEqual(['essay', 'word_count', 'writer']);
  expect(content['application/x-ndjson'].schema.anyOf.map(({ required }: { required: string[] }) => required)).toEqual([
    ['text'],
    ['essay', 'word_count', 'writer'],
    ['error'],
  ]);
  expect(description).toContain('accept: application/x-ndjson, application/json');
});
