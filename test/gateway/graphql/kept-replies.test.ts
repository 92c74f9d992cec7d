import { expect, it } from 'vitest';
import { AbortableSignal } from '../../../src/base/async/signal.ts';
import type { Executed } from '../../../src/gateway/graphql/documents/operation.ts';
import { createKeptReplies } from '../../../src/gateway/graphql/request/kept-replies.ts';
import { createRecord, type MediaType, type Reply } from '../../../src/gateway/graphql/request/reply.ts';
import { createRequestContext } from '../../../src/gateway/request-context.ts';

const executed = {
  operation: { isRepeatable: true, cacheScope: 'public' },
  requestContext: createRequestContext(new AbortableSignal()),
} as unknown as Executed;

function tReply(body: string, mediaType: MediaType): Reply {
  return { status: 200, headers: {}, mediaType, body, record: createRecord(null) };
}

it('keeps a reply for each body, access and media type', () => {
  const replies = createKeptReplies(1e6);
  const cases = ['1', '2'].flatMap((body) =>
    ['a', 'b', 'c'].flatMap((accessKey) =>
      (['application/json', 'application/graphql-response+json'] as const).map((mediaType) => ({
        mediaType,
        key: replies.keyOf({ body, mediaType }, { accessKey }),
      })),
    ),
  );
  for (const [index, { key, mediaType }] of cases.entries()) {
    expect(replies.get(key)).toBeUndefined();
    replies.keep(key, tReply(`reply ${index}`, mediaType), executed);
  }
  for (const [index, { key, mediaType }] of cases.entries()) {
    expect(replies.get(key)).toMatchObject({ body: `reply ${index}`, mediaType });
  }
  expect(replies.status().entries).toBe(cases.length);
});

it('keeps no reply to a request that was received before the replies were cleared', () => {
  const replies = createKeptReplies(1e6);
  const request = { body: '{}', mediaType: 'application/json' };
  const before = replies.keyOf(request, { accessKey: 'a' });
  replies.clear();
  replies.keep(before, tReply('outdated', 'application/json'), executed);
  const after = replies.keyOf(request, { accessKey: 'a' });
  expect(replies.get(after)).toBeUndefined();
  replies.keep(after, tReply('current', 'application/json'), executed);
  expect(replies.get(before)).toMatchObject({ body: 'current' });
});
