import type { DocumentNode, ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Caller } from '../../auth/caller.ts';
import type { Backpressure } from '../../upstream/backpressure.ts';
import type { PreparedDocument } from '../documents/document.ts';
import type { PrepareDocument } from '../documents/documents.ts';
import type { Executed, OperationContext } from '../documents/operation.ts';
import type { ServerContext } from '../schema/context.ts';
import { chooseMediaType } from './media-type.ts';
import { clientClosedRequest, costHeader, type Replies, traceHeader } from './reply.ts';
import { ReplyRecord } from './reply-record.ts';

/** Other plugins find it in the context. */
export interface ExecutedOperation {
  operationCost: number;
}

interface PreparedOperationsOptions {
  prepare: PrepareDocument;
  replies: Replies;
  /** Delays queries with many look-ups. */
  backpressure: Backpressure;
  localCaller: Caller;
}

/** Lets Yoga parse, validate and execute with prepared operations, and create the same replies as the direct way. */
export function usePreparedOperations({
  prepare,
  replies,
  localCaller,
}: PreparedOperationsOptions): Plugin<OperationContext & Partial<ExecutedOperation>, ServerContext> {
  const documents = new WeakMap<DocumentNode, PreparedDocument>();
  const executions = new WeakMap<Request, Executed>();

  return {
    onParse({ setParseFn }) {
      setParseFn((text: string) => {
        const prepared = prepare(text);
        if (prepared.document === null) throw prepared.errors[0];
        documents.set(prepared.document, prepared);
        return prepared.document;
      });
    },
    onValidate({ params: { documentAST }, setResult }) {
      setResult(documents.get(documentAST)?.errors ?? []);
    },
    onExecute({ args, extendContext, setExecuteFn }) {
      const { document, operationName, contextValue } = args;
      const operation = documents.get(document)?.operation(operationName);
      if (operation === undefined) return;
      const variables = args.variableValues ?? {};
      const { requestContext, params } = contextValue;
      const hash: unknown = params?.extensions?.persistedQuery?.sha256Hash;
      executions.set(contextValue.request, {
        operation,
        requestContext,
        documentId: typeof hash === 'string' ? hash : null,
      });
      extendContext({ operationCost: operation.cost(variables) });
      setExecuteFn(({ schema, contextValue }) => operation.execute(contextValue, variables, schema));
    },
    onResultProcess({ request, serverContext, resultProcessor, setResultProcessor }) {
      const mediaType = chooseMediaType(request.headers.get('accept') ?? undefined);
      if (mediaType === null || resultProcessor === undefined) return;
      setResultProcessor((result, { Response }) => {
        const { requestId, caller = localCaller, onRecord } = serverContext;
        const executed = executions.get(request) ?? null;
        if (request.signal.aborted) {
          onRecord?.(new ReplyRecord(executed));
          return new Response(null, { status: clientClosedRequest });
        }
        const asked = { headers: extensionHeadersOf(request), mediaType, requestId };
        const reply = replies.create(result as ExecutionResult, asked, caller, executed);
        onRecord?.(reply.record);
        const headers = { ...reply.headers, 'content-type': `${mediaType}; charset=utf-8` };
        return new Response(reply.body, { status: reply.status, headers });
      }, mediaType);
    },
  };
}

function extensionHeadersOf({ headers }: Request): Record<string, string | undefined> {
  const names = [costHeader, traceHeader];
  return Object.fromEntries(names.map((name) => [name, headers.get(name) ?? undefined]));
}
