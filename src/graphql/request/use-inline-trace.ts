import { Trace } from '@apollo/usage-reporting-protobuf';
import { useApolloInstrumentation } from '@graphql-yoga/plugin-apollo-inline-trace';
import { GraphQLError, type GraphQLSchema, lexicographicSortSchema } from 'graphql';
import type { Plugin, YogaInitialContext } from 'graphql-yoga';
import type { Redact } from '../../telemetry/redact.ts';
import { locate } from '../documents/source.ts';
import { describeFailure, maxErrors } from './present-error.ts';
import { traceHeader } from './reply.ts';
import type { ExecutedOperation } from './use-prepared-operations.ts';

export interface InlineTraceOptions {
  redact: Redact;
  /** Cost of the largest operation whose fields are traced. */
  maxCost: number;
}

/**
 * Adds the duration and errors of each field to `extensions.ftv1` if a router requests it
 * (https://www.apollographql.com/docs/federation/metrics). Errors are those that clients see. The trace of a large
 * operation has no fields.
 */
export function useInlineTrace({ redact, maxCost }: InlineTraceOptions): Plugin<Partial<ExecutedOperation>> {
  const isRequested = (request: Request) => request.headers.get(traceHeader) === 'ftv1';
  const [{ onPluginInit, onExecutionResult: finishTrace, ...recorder }, traces] = useApolloInstrumentation({
    ignoreRequest: (request) => !isRequested(request),
  });
  const timingPlugins: Plugin[] = [];
  const timedSchemas = new WeakMap<GraphQLSchema, GraphQLSchema>();

  return {
    onPluginInit(payload) {
      onPluginInit?.({ ...payload, addPlugin: (plugin) => timingPlugins.push(plugin as Plugin) });
      payload.addPlugin(recorder);
    },
    onExecute({ args, executeFn, setExecuteFn }) {
      const { request, operationCost = 0 } = args.contextValue;
      if (!isRequested(request) || operationCost > maxCost) return;
      setExecuteFn((args) => executeFn({ ...args, schema: withTimers(args.schema) }));
    },
    onExecutionResult(payload) {
      const { request, result, context, setResult } = payload;
      const traced = traces.get(request)?.traces.get(context as YogaInitialContext);
      if (traced === undefined || result === undefined || Symbol.asyncIterator in result) return;
      const errors = result.errors?.slice(0, maxErrors).map((error) => presentTraceError(error, traced.nodes));
      finishTrace?.({ ...payload, result: { ...result, ...(errors && { errors }) } });
      // The package's own encoder passes all bytes as arguments of one call, which fails for large traces.
      const ftv1 = Buffer.from(Trace.encode(traced.trace).finish()).toString('base64');
      setResult({ ...result, extensions: { ...result.extensions, ftv1 } });
    },
  };

  /** A copy of the schema with a timer around each resolver, so that other requests run without timers. */
  function withTimers(schema: GraphQLSchema): GraphQLSchema {
    const known = timedSchemas.get(schema);
    if (known) return known;
    const copy = lexicographicSortSchema(schema);
    for (const { onSchemaChange } of timingPlugins) onSchemaChange?.({ schema: copy, replaceSchema: () => {} });
    timedSchemas.set(schema, copy);
    return copy;
  }

  /** Omits a path that has no node, as the root field failed before its resolver: the recorder would throw. */
  function presentTraceError(error: GraphQLError, nodesByPath: ReadonlyMap<string, unknown>): GraphQLError {
    // Routers pass traces on: they need no names that the request does not contain.
    const { message, extensions } = describeFailure(error, { hidesSuggestions: true, redact });
    const path = error.path && nodesByPath.has(String(error.path[0])) ? error.path : null;
    return Object.assign(new GraphQLError(message, { path, extensions }), { locations: locate(error) });
  }
}
