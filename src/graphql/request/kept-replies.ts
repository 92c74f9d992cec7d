import { LRUCache } from 'lru-cache';
import type { Caller } from '../../auth/caller.ts';
import type { CacheStatus } from '../../telemetry/metrics/gateway-metrics.ts';
import type { CacheScope } from '../documents/cache-scope.ts';
import type { Executed } from '../documents/operation.ts';
import { cacheControlOf, type Reply } from './reply.ts';

/** What a reply depends on: what the caller may read, the media type and the body of the request. */
export type RequestKey = string;

/** Callers with the same scopes and cost limit share kept replies. */
export function keyOfRequest(
  { body, mediaType }: { body: string; mediaType: string },
  { accessKey }: Pick<Caller, 'accessKey'>,
): RequestKey {
  return `${accessKey} ${mediaType} ${body}`;
}

export type KeptReplies = ReturnType<typeof createKeptReplies>;

interface KeptReply {
  reply: Reply;
  cacheScope: CacheScope;
  freshUntil: number;
}

/** Replies that are sent again to the same request, so that a query that many clients send is not executed again. */
export function createKeptReplies(maxBytes: number) {
  const replies = new LRUCache<RequestKey, KeptReply>({
    maxSize: maxBytes,
    maxEntrySize: maxBytes / 100,
    sizeCalculation: ({ reply }, key) => 2 * (reply.body.length + key.length) + bytesPerReply,
  });

  return {
    /** The reply that was sent to the same request, while everything in it is fresh. */
    get(key: RequestKey): Reply | undefined {
      const kept = replies.get(key);
      if (kept === undefined) return undefined;
      if (Date.now() >= kept.freshUntil) {
        replies.delete(key);
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
    /** Keeps a reply without errors that needed no upstream call of its own and has no stale values. */
    keep(key: RequestKey, reply: Reply, executed: Executed): void {
      const { operation, requestContext } = executed;
      const { freshness, usage } = requestContext;
      const isFresh = usage.upstreamCalls === 0 && usage.staleHits === 0;
      if (!isFresh || !operation.isRepeatable) return;
      const body = Buffer.from(reply.body).toString('latin1');
      const record = { ...reply.record, isKept: true, activity: null };
      const kept: Reply = { ...reply, body, bodyEncoding: 'latin1', record };
      replies.set(key, { reply: kept, cacheScope: operation.cacheScope, freshUntil: freshness.freshUntil });
    },
    clear: () => replies.clear(),
    status: (): CacheStatus => ({ entries: replies.size, bytes: replies.calculatedSize }),
  };
}

/** Memory of an entry besides its texts, roughly. */
const bytesPerReply = 800;
