import { randomUUID } from 'node:crypto';
import { type ExecutionResult, GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Events } from '../../telemetry/events.ts';
import type { Redact } from '../../telemetry/redact.ts';
import type { ServerContext } from '../context.ts';
import { maxErrors, presentError } from '../present-error.ts';

interface PresentedErrorsOptions {
  redact: Redact;
  events: Events;
}

/** Applies `presentError` to the errors of parsing, validation, context creation and execution. */
export function usePresentedErrors(options: PresentedErrorsOptions): Plugin<object, ServerContext> {
  return {
    onResultProcess({ request, result, setResult, serverContext }) {
      const { errors, ...rest } = result as ExecutionResult;
      // The client has disconnected: its cancelled look-ups are not errors.
      if (errors === undefined || request.signal.aborted) return;
      const { requestId = randomUUID() } = serverContext;
      const shown = errors.slice(0, maxErrors).map((error) => presentError(error, { ...options, requestId }));
      if (errors.length > maxErrors) shown.push(createSummary(errors.length - maxErrors, requestId));
      setResult({ ...rest, errors: shown });
    },
  };
}

function createSummary(count: number, requestId: string): GraphQLError {
  const extensions = { code: 'TOO_MANY_ERRORS', service: null, retryable: false, requestId };
  return new GraphQLError(`${count} more errors are not listed; a response lists at most ${maxErrors}.`, {
    extensions,
  });
}
