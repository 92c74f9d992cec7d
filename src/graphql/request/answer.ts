import type { IncomingHttpHeaders } from 'node:http';
import { type ExecutionResult, getOperationAST } from 'graphql';
import type { Signal } from '../../async/signal.ts';
import type { Caller } from '../../auth/caller.ts';
import type { Trace } from '../../trace.ts';
import type { Backpressure } from '../../upstream/backpressure.ts';
import { createOperationError } from '../documents/document.ts';
import type { AnswerInTurn, PrepareDocument } from '../documents/documents.ts';
import type { Executed, OperationContext, PreparedOperation } from '../documents/operation.ts';
import type { KeptReplies } from './kept-replies.ts';
import type { MediaType } from './media-type.ts';
import type { PersistedQueries } from './persisted-queries.ts';
import { type PostParams, readPostParams } from './post-params.ts';
import { clientClosedRequest, type Replies, type Reply } from './reply.ts';
import { ReplyRecord } from './reply-record.ts';

/** A POST request with a JSON body. */
interface GraphqlPost {
  body: string;
  bodyHash: number;
  headers: IncomingHttpHeaders;
  mediaType: MediaType;
  requestId: string;
  /** Aborts when the client disconnects. */
  signal: Signal;
  trace: Trace | null;
}

interface DirectWayOptions<Context> {
  prepare: PrepareDocument;
  inTurn: AnswerInTurn;
  /** Called for a kept reply: documents that are not known wait for it as for a known document. */
  countKnown: () => void;
  persistedQueries: PersistedQueries;
  keptReplies: KeptReplies;
  createContext: (caller: Caller, signal: Signal, trace: Trace | null) => Context;
  replies: Replies;
  /** Delays queries with many look-ups. */
  backpressure: Backpressure;
  /** Whether a request asks for something that only Yoga's plugins add. */
  needsYoga: (headers: IncomingHttpHeaders) => boolean;
}

/** Answers a request; null if it is not an ordinary one, which Yoga answers. */
export type AnswerDirectly = (post: GraphqlPost, caller: Caller) => Reply | PromiseLike<Reply | null> | null;

/**
 * Answers ordinary requests without Yoga, which takes ten times as long: a query or the hash of a known one, with an
 * operation name and variables. Both ways execute the same prepared operations and create the same replies.
 */
export function createDirectWay<Context extends OperationContext>({
  prepare,
  inTurn,
  countKnown,
  persistedQueries,
  keptReplies,
  createContext,
  replies,
  needsYoga,
}: DirectWayOptions<Context>): AnswerDirectly {
  return (post, caller) => {
    if (needsYoga(post.headers)) return null;
    const isKeepable = !replies.asksForExtensions(post.headers);
    const kept = isKeepable ? keptReplies.get(post, caller) : undefined;
    if (kept) {
      countKnown();
      return kept;
    }
    const params = readPostParams(post.body);
    const query = params && findQuery(params);
    if (!params || query === null) return null;
    const documentId = params.extensions?.persistedQuery ? String(params.extensions.persistedQuery.sha256Hash) : null;
    const variables = params.variables ?? {};

    return inTurn(query, () => (post.signal.aborted ? abandon(null) : answer(query, params)));

    function answer(query: string, params: PostParams): Reply | PromiseLike<Reply> | null {
      const { operation, errors } = prepareOperation(query, params);
      if (operation === null) return replies.create({ errors }, post, caller, null);
      if (operation.label.type === 'subscription') return null;
      return execute(operation);
    }

    function execute(operation: PreparedOperation): Reply | PromiseLike<Reply> {
      const context = createContext(caller, post.signal, post.trace);
      const { requestContext } = context;
      const executed: Executed = { operation, requestContext, documentId };
      const result = operation.execute(context, variables);
      return 'then' in result ? result.then((result) => finish(result, executed)) : finish(result, executed);
    }

    function finish(result: ExecutionResult, executed: Executed): Reply {
      // The cancelled look-ups of a client that has disconnected are not errors.
      if (post.signal.aborted) return abandon(executed);
      const reply = replies.create(result, post, caller, executed);
      if (isKeepable && result.errors === undefined) keptReplies.keep(post, caller, reply, executed);
      return reply;
    }

    function abandon(executed: Executed | null): Reply {
      return { ...abandoned, mediaType: post.mediaType, record: new ReplyRecord(executed) };
    }
  };

  function prepareOperation(query: string, { operationName }: PostParams) {
    const { document, errors, operation } = prepare(query);
    // As in Yoga, an unknown operation is reported before the errors of validation.
    if (document && !getOperationAST(document, operationName))
      return { operation: null, errors: [createOperationError()] };
    return errors.length > 0 ? { operation: null, errors } : { operation: operation(operationName), errors };
  }

  /** Null: an unknown hash, or a query to be registered. */
  function findQuery({ query, extensions }: PostParams): string | null {
    const persisted = extensions?.persistedQuery;
    if (!persisted) return query ?? null;
    if (persisted.version !== 1 || typeof persisted.sha256Hash !== 'string') return null;
    const known = persistedQueries.get(persisted.sha256Hash) ?? null;
    return query == null || query === known ? known : null;
  }
}

const abandoned = { status: clientClosedRequest, headers: {}, body: '', bodyEncoding: 'utf8' } as const;
