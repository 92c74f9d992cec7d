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

/** Sends every error through `presentError`, wherever it arose: parsing, validation, execution or the context. */
export function usePresentedErrors(options: PresentedErrorsOptions): Plugin<object, ServerContext> {
  return {
    onResultProcess({ request, result, setResult, serverContext }) {
      const { errors, ...rest } = result as ExecutionResult;
      // A client that hung up is answered no more, and that its look-ups were given up is no error.
      if (errors === undefined || request.signal.aborted) return;
      const { requestId = randomUUID() } = serverContext;
      setResult({ ...rest, errors: errors.map((error) => presentError(error, { ...options, requestId })) });
    },
  };
}
