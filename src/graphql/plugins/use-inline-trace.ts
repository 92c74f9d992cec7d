import { Trace } from '@apollo/usage-reporting-protobuf';
import { useApolloInstrumentation } from '@graphql-yoga/plugin-apollo-inline-trace';
import { execute, GraphQLError, type GraphQLSchema, lexicographicSortSchema } from 'graphql';
import type { Plugin, YogaInitialContext } from 'graphql-yoga';
import type { Redact } from '../../telemetry/redact.ts';
import { describeFailure } from '../present-error.ts';

/** Routers that want a trace send it with the value `ftv1`. */
export const traceHeader = 'apollo-federation-include-trace';

interface InlineTraceOptions {
  redact: Redact;
}

/**
 * Tells a router that asks for it, in `extensions.ftv1`, how long each field took and which failed
 * (https://www.apollographql.com/docs/federation/metrics). Its failures are worded as clients see them.
 */
export function useInlineTrace({ redact }: InlineTraceOptions): Plugin {
  const isAsked = (request: Request) => request.headers.get(traceHeader) === 'ftv1';
  const [{ onPluginInit, ...recorder }, traces] = useApolloInstrumentation({
    ignoreRequest: (request) => !isAsked(request),
    rewriteError: (error) => {
      const { message, extensions } = describeFailure(error, redact);
      return new GraphQLError(message, { extensions });
    },
  });
  const timers: Plugin[] = [];
  const timedSchemas = new WeakMap<GraphQLSchema, GraphQLSchema>();

  return {
    onPluginInit(payload) {
      onPluginInit?.({ ...payload, addPlugin: (timer) => timers.push(timer as Plugin) });
      payload.addPlugin(recorder);
    },
    onExecute({ args, setExecuteFn }) {
      if (isAsked(args.contextValue.request)) setExecuteFn((args) => execute({ ...args, schema: timed(args.schema) }));
    },
    // The plugin's own encoder hands all bytes to one function as arguments, and large traces are too many for that.
    onExecutionResult({ request, result, context, setResult }) {
      const trace = traces.get(request)?.traces.get(context as YogaInitialContext)?.trace;
      if (trace === undefined || result === undefined || Symbol.asyncIterator in result) return;
      const ftv1 = Buffer.from(Trace.encode(trace).finish()).toString('base64');
      setResult({ ...result, extensions: { ...result.extensions, ftv1 } });
    },
  };

  /** A copy with a timer around each resolver, so that nobody waits for timers but who asked for them. */
  function timed(schema: GraphQLSchema): GraphQLSchema {
    const known = timedSchemas.get(schema);
    if (known) return known;
    const copy = lexicographicSortSchema(schema);
    for (const { onSchemaChange } of timers) onSchemaChange?.({ schema: copy, replaceSchema: () => {} });
    timedSchemas.set(schema, copy);
    return copy;
  }
}
