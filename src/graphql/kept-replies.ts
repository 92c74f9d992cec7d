import { LRUCache } from 'lru-cache';
import { cacheControlOf } from './cache-control.ts';
import type { MediaType } from './media-type.ts';
import type { Executed, PreparedOperation } from './prepared-operation.ts';
import type { Reply } from './reply.ts';

/** A request as a client sent it. */
interface Question {
  body: string;
  mediaType: MediaType;
}

export interface KeptReplies {
  /** The reply that was sent to the same question, while everything in it is fresh. */
  get(question: Question): Reply | undefined;
  /** Keeps a reply without errors if the next one would be the same: that is, without an upstream call. */
  keep(question: Question, reply: Reply, executed: Executed): void;
}

interface KeptReply {
  reply: Reply;
  operation: PreparedOperation;
  freshUntil: number;
}

/** Replies by the text of the request, so that a question that many ask is neither parsed nor executed again. */
export function createKeptReplies(maxBytes: number): KeptReplies {
  const replies = new LRUCache<string, KeptReply>({
    maxSize: maxBytes,
    maxEntrySize: maxBytes / 100,
    sizeCalculation: ({ reply }, key) => 2 * (reply.body.length + key.length) + bytesPerReply,
  });

  return {
    get(question) {
      const kept = replies.get(keyOf(question));
      if (kept === undefined) return undefined;
      if (Date.now() >= kept.freshUntil) {
        replies.delete(keyOf(question));
        return undefined;
      }
      const { reply, operation } = kept;
      const cacheControl = cacheControlOf(operation.cacheScope, kept);
      if (reply.headers['cache-control'] !== cacheControl) {
        // The same object, so that its compressed body is kept as well.
        reply.headers = { ...reply.headers, 'cache-control': cacheControl };
      }
      return reply;
    },
    keep(question, reply, { operation, requestContext: { freshUntil, usage } }) {
      const isFresh = usage.upstreamCalls === 0 && usage.staleHits === 0;
      if (isFresh && operation.isRepeatable) replies.set(keyOf(question), { reply, operation, freshUntil });
    },
  };
}

/** The two media types differ in the header only, but clients ask for one of them. No JSON begins with a plus sign. */
function keyOf({ body, mediaType }: Question): string {
  return mediaType === 'application/json' ? body : `+${body}`;
}

/** Memory of an entry besides its texts, roughly. */
const bytesPerReply = 600;
