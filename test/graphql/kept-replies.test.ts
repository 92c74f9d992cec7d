import { describe, expect, it } from 'vitest';
import type { Executed } from '../../src/graphql/documents/operation.ts';
import { createKeptReplies } from '../../src/graphql/request/kept-replies.ts';
import type { MediaType } from '../../src/graphql/request/media-type.ts';
import type { Reply } from '../../src/graphql/request/reply.ts';
import { ReplyRecord } from '../../src/graphql/request/reply-record.ts';

const executed = {
  operation: { isRepeatable: true, cacheScope: 'public' },
  requestContext: { freshUntil: Number.POSITIVE_INFINITY, usage: { upstreamCalls: 0, staleHits: 0 }, activity: null },
  documentId: null,
} as unknown as Executed;

function tQuestion(body: string, bodyHash: number, mediaType: MediaType = 'application/json') {
  return { body, bodyHash, mediaType };
}

function tReply(body: string, mediaType: MediaType = 'application/json'): Reply {
  return { status: 200, headers: {}, mediaType, body, bodyEncoding: 'utf8', record: new ReplyRecord(null) };
}

describe('a kept reply', () => {
  it('is not sent for another body with the same hash, which replaces it', () => {
    const replies = createKeptReplies(1e6);
    const caller = { accessKey: 'a' };
    const [first, second] = [tQuestion('1', 7), tQuestion('2', 7)];
    replies.keep(first, caller, tReply('one'), executed);
    expect(replies.get(second, caller)).toBeUndefined();
    expect(replies.get(first, caller)?.body).toBe('one');
    replies.keep(second, caller, tReply('two'), executed);
    expect(replies.get(second, caller)?.body).toBe('two');
    expect(replies.get(first, caller)).toBeUndefined();
    expect(replies.status().entries).toBe(1);
  });

  it('is not sent to callers with other access, nor as another media type: each of them has its own', () => {
    const replies = createKeptReplies(1e6);
    const cases = ['a', 'b', 'c'].flatMap((accessKey) =>
      (['application/json', 'application/graphql-response+json'] as const).map((mediaType) => ({
        accessKey,
        mediaType,
      })),
    );
    for (const [index, { accessKey, mediaType }] of cases.entries()) {
      const question = tQuestion('1', 7, mediaType);
      expect(replies.get(question, { accessKey })).toBeUndefined();
      replies.keep(question, { accessKey }, tReply(`reply ${index}`, mediaType), executed);
    }
    for (const [index, { accessKey, mediaType }] of cases.entries()) {
      expect(replies.get(tQuestion('1', 7, mediaType), { accessKey })?.body).toBe(`reply ${index}`);
      expect(replies.get(tQuestion('2', 7, mediaType), { accessKey })).toBeUndefined();
    }
    expect(replies.status().entries).toBe(6);
  });
});
