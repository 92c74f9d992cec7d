import { LRUCache } from 'lru-cache';
import type { Caller } from '../../callers/caller.ts';
import type { CacheStatus } from '../../telemetry/metrics/exposition.ts';
import type { CacheScope } from '../documents/cache-scope.ts';
import type { Executed } from '../documents/operation.ts';
import { cacheControlOf, type Reply } from './reply.ts';

/** The request for which a reply may be kept. */
export interface ReplyKey {
  /** What the reply depends on: what the caller may read, the media type and the body of the request. */
  text: string;
  /** The number of times that the replies had been cleared when the request was received. */
  generation: number;
}

interface KeptReply {
  reply: Reply;
  cacheScope: CacheScope;
  freshUntil: number;
}

/**
 * Replies that are sent again to the same request, so that a query that many clients send is not executed again. A request that needed a
 * call is the first one with its look-ups and may never be repeated, so its reply would take memory from others. Of equal requests, the
 * first one calls the service; the second one is answered from the cache of look-ups, and its document is cached and its reply kept; the
 * third one gets that reply. Requests with other variables share the document, which is compiled after its second execution.
 */
export function createKeptReplies(maxBytes: number) {
  const replies = new LRUCache<string, KeptReply>({
    maxSize: maxBytes,
    maxEntrySize: maxBytes / 100,
    sizeCalculation: ({ reply }, key) => 2 * (reply.body.length + key.length) + bytesPerReply,
  });

  let generation = 0;

  return {
    /** Callers with the same scopes and cost limit share kept replies. */
    keyOf: (
      { body, mediaType }: { body: string; mediaType: string },
      { accessKey }: Pick<Caller, 'accessKey'>,
    ): ReplyKey => ({ text: `${accessKey} ${mediaType} ${body}`, generation }),
    /** The reply that was sent to the same request, while everything in it is fresh. */
    get({ text }: ReplyKey): Reply | undefined {
      const kept = replies.get(text);
      if (kept === undefined) return undefined;
      if (Date.now() >= kept.freshUntil) {
        replies.delete(text);
        return undefined;
      }
      const { reply, cacheScope } = kept;
      return { ...reply, headers: { ...reply.headers, 'cache-control': cacheControlOf(cacheScope, kept) } };
    },
    /**
     * Keeps a reply without errors that needed no upstream call of its own and has no stale values, unless the replies were
     * cleared since its request was received: it may come from what has been replaced.
     */
    keep(key: ReplyKey, reply: Reply, executed: Executed): void {
      if (key.generation !== generation) return;
      const { operation, requestContext } = executed;
      const { freshness, usage } = requestContext;
      const isFresh = usage.upstreamCalls === 0 && usage.staleHits === 0;
      if (!isFresh || !operation.isRepeatable) return;
      const kept: Reply = { ...reply, record: { ...reply.record, isKept: true, activity: null } };
      replies.set(key.text, { reply: kept, cacheScope: operation.cacheScope, freshUntil: freshness.freshUntil });
    },
    clear(): void {
      generation += 1;
      replies.clear();
    },
    status: (): CacheStatus => ({ entries: replies.size, bytes: replies.calculatedSize }),
  };
}

/** Memory of an entry besides its texts, roughly. */
const bytesPerReply = 800;
