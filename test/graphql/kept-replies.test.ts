import { describe, expect, it } from 'vitest';
import { createKeptReplies } from '../../src/graphql/kept-replies.ts';
import type { MediaType } from '../../src/graphql/media-type.ts';
import type { Executed } from '../../src/graphql/prepared-operation.ts';
import type { Reply } from '../../src/graphql/reply.ts';
import { ReplyRecord } from '../../src/graphql/reply-record.ts';

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

  it.each([
    ['callers with other access', tQuestion('1', 7), { accessKey: 'b' }],
    ['another media type', tQuestion('1', 7, 'application/graphql-response+json'), { accessKey: 'a' }],
  ])('is not sent to %s, who have one of their own', (_, question, caller) => {
    const replies = createKeptReplies(1e6);
    replies.keep(tQuestion('1', 7), { accessKey: 'a' }, tReply('one'), executed);
    expect(replies.get(question, caller)).toBeUndefined();
    replies.keep(question, caller, tReply('other', question.mediaType), executed);
    expect(replies.get(question, caller)?.body).toBe('other');
    expect(replies.get({ ...question, body: '2' }, caller)).toBeUndefined();
    expect(replies.get(tQuestion('1', 7), { accessKey: 'a' })?.body).toBe('one');
  });
});
