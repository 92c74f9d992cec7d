import { Trace } from '@apollo/usage-reporting-protobuf';
import { useApolloInstrumentation } from '@graphql-yoga/plugin-apollo-inline-trace';
import { GraphQLError, type GraphQLSchema, lexicographicSortSchema } from 'graphql';
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
  const [{ onPluginInit, onExecutionResult: finish, ...recorder }, traces] = useApolloInstrumentation({
    ignoreRequest: (request) => !isAsked(request),
  });
  const timers: Plugin[] = [];
  const timedSchemas = new WeakMap<GraphQLSchema, GraphQLSchema>();

  return {
    onPluginInit(payload) {
      onPluginInit?.({ ...payload, addPlugin: (timer) => timers.push(timer as Plugin) });
      payload.addPlugin(recorder);
    },
    onExecute({ args, executeFn, setExecuteFn }) {
      if (!isAsked(args.contextValue.request)) return;
      setExecuteFn((untimed) => executeFn({ ...untimed, schema: timed(untimed.schema) }));
    },
    onExecutionResult(payload) {
      const { request, result, context, setResult } = payload;
      const traced = traces.get(request)?.traces.get(context as YogaInitialContext);
      if (traced === undefined || result === undefined || Symbol.asyncIterator in result) return;
      const errors = result.errors?.map((error) => word(error, traced.nodes));
      finish?.({ ...payload, result: { ...result, ...(errors && { errors }) } });
      // The package's own encoder hands all bytes to one call as arguments, and large traces are too many for that.
      const ftv1 = Buffer.from(Trace.encode(traced.trace).finish()).toString('base64');
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

  /** The recorder looks for the place of a failure, which has none where its root field failed before the resolver. */
  function word(error: GraphQLError, placed: ReadonlyMap<string, unknown>): GraphQLError {
    const { message, extensions } = describeFailure(error, redact);
    const path = error.path && placed.has(String(error.path[0])) ? error.path : null;
    const { nodes = null, source = null, positions = null } = error;
    return new GraphQLError(message, { nodes, source, positions, path, extensions });
  }
}
