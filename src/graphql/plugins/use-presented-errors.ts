import { randomUUID } from 'node:crypto';
import type { ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Events } from '../../telemetry/events.ts';
import type { Redact } from '../../telemetry/redact.ts';
import type { ServerContext } from '../context.ts';
import { presentError } from '../present-error.ts';

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
      setResult({ ...rest, errors: errors.map((error) => presentError(error, { ...options, requestId })) });
    },
  };
}
