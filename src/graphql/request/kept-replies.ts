import { LRUCache } from 'lru-cache';
import type { Caller } from '../../auth/caller.ts';
import type { CacheStatus } from '../../telemetry/metrics/gateway-metrics.ts';
import type { CacheScope } from '../documents/cache-scope.ts';
import type { Executed } from '../documents/operation.ts';
import { createCacheControl } from './cache-control.ts';
import type { MediaType } from './media-type.ts';
import type { Reply } from './reply.ts';
import { ReplyRecord } from './reply-record.ts';

/** A request as a client sent it. */
interface Question {
  body: string;
  /** By `hashBytes`: finding a reply by it takes less time than by the body. */
  bodyHash: number;
  mediaType: MediaType;
}

type Access = Pick<Caller, 'accessKey'>;

export interface KeptReplies {
  /** The reply that was sent to the same question, while everything in it is fresh. */
  get(question: Question, caller: Access): Reply | undefined;
  /** Keeps a reply without errors if the next one would be the same: that is, without an upstream call. */
  keep(question: Question, caller: Access, reply: Reply, executed: Executed): void;
  clear(): void;
  status(): CacheStatus;
}

interface KeptReply {
  /** Of the request. Replies to bodies with the same hash replace each other. */
  body: string;
  reply: Reply;
  cacheScope: CacheScope;
  freshUntil: number;
}

/** Replies by the body of the request, so that a question that many ask is neither parsed nor executed again. */
export function createKeptReplies(maxBytes: number): KeptReplies {
  const replies = new LRUCache<number | string, KeptReply>({
    maxSize: maxBytes,
    maxEntrySize: maxBytes / 100,
    sizeCalculation: ({ body, reply }) => 2 * (reply.body.length + body.length) + bytesPerReply,
  });

  const keyOf = createKeys();
  const cacheControlOf = createCacheControl();

  return {
    get(question, caller) {
      const kept = replies.get(keyOf(question, caller));
      if (kept?.body !== question.body) return undefined;
      if (Date.now() >= kept.freshUntil) {
        replies.delete(keyOf(question, caller));
        return undefined;
      }
      const { reply, cacheScope } = kept;
      const cacheControl = cacheControlOf(cacheScope, kept);
      if (reply.headers['cache-control'] !== cacheControl) {
        // The same object, so that its compressed body is kept as well.
        reply.headers = { ...reply.headers, 'cache-control': cacheControl };
      }
      return reply;
    },
    keep(question, caller, reply, executed) {
      const {
        operation,
        requestContext: { freshUntil, usage },
      } = executed;
      const isFresh = usage.upstreamCalls === 0 && usage.staleHits === 0;
      if (!isFresh || !operation.isRepeatable) return;
      const record = new ReplyRecord(executed);
      record.isKept = true;
      record.activity = null;
      const latin1 = Buffer.from(reply.body).toString('latin1');
      replies.set(keyOf(question, caller), {
        body: question.body,
        reply: { ...reply, body: latin1, bodyEncoding: 'latin1', record },
        cacheScope: operation.cacheScope,
        freshUntil,
      });
    },
    clear: () => replies.clear(),
    status: () => ({ entries: replies.size, bytes: replies.calculatedSize }),
  };
}

/**
 * Replies to other callers may contain what this one may not read. Most requests are of callers with the same access and
 * ask for the same media type: their key is a number.
 */
function createKeys(): (question: Question, caller: Access) => number | string {
  let usualAccess: string | undefined;
  return ({ bodyHash, mediaType }, { accessKey }) => {
    usualAccess ??= accessKey;
    const isUsual = accessKey === usualAccess && mediaType === 'application/json';
    return isUsual ? bodyHash : `${accessKey} ${mediaType} ${bodyHash}`;
  };
}

/** Memory of an entry besides its texts, roughly. */
const bytesPerReply = 800;
