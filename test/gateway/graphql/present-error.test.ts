import { GraphQLError } from 'graphql';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/base/errors.ts';
import { createRedact } from '../../../src/base/redact.ts';
import { presentErrors } from '../../../src/gateway/graphql/request/present-error.ts';
import type { Events } from '../../../src/gateway/telemetry/events.ts';

function present(error: GraphQLError) {
  const logged: unknown[][] = [];
  const events = { unexpectedError: (...details) => logged.push(details) } as Partial<Events> as Events;
  const redact = createRedact(['seeded-secret']);
  const [presented] = presentErrors([error], { requestId: 'r1', hidesSuggestions: false, redact, events });
  return { ...presented, logged };
}

function thrownInAResolver(originalError: Error): GraphQLError {
  return new GraphQLError(originalError.message, { originalError, path: ['ibanValidations', 3] });
}

describe('an error', () => {
  it('that is an expected failure is shown with its code', () => {
    const failure = new GatewayError('UPSTREAM_TIMED_OUT', 'Too slow.', { service: 'bank-data', retryable: true });
    expect(present(thrownInAResolver(failure))).toEqual({
      shown: {
        message: 'Too slow.',
        path: ['ibanValidations', 3],
        extensions: { code: 'UPSTREAM_TIMED_OUT', service: 'bank-data', retryable: true, requestId: 'r1' },
      },
      http: null,
      isExpected: true,
      logged: [],
    });
  });

  it('that is unexpected is hidden, and logged with the request id', () => {
    const fault = new TypeError('cannot read seeded-secret of DE89370400440532013000');
    const { shown, isExpected, logged } = present(thrownInAResolver(thrownInAResolver(fault)));
    expect(shown).toEqual({
      message: 'Internal error; the gateway logged it under this requestId.',
      path: ['ibanValidations', 3],
      extensions: { code: 'INTERNAL_SERVER_ERROR', service: null, retryable: false, requestId: 'r1' },
    });
    expect(isExpected).toBe(false);
    expect(logged).toEqual([[fault, { requestId: 'r1' }]]);
  });

  it('of an invalid request has GraphQL’s message, without IBANs', () => {
    const mistake = new GraphQLError('Syntax Error: Unexpected Name "DE89370400440532013000".', {
      extensions: { code: 'GRAPHQL_PARSE_FAILED', originalError: { message: 'seeded-secret' }, http: { status: 400 } },
    });
    expect(present(mistake)).toEqual({
      shown: {
        message: 'Syntax Error: Unexpected Name "[IBAN]".',
        extensions: { code: 'GRAPHQL_PARSE_FAILED', service: null, retryable: false, requestId: 'r1' },
      },
      http: { status: 400, spec: true },
      isExpected: true,
      logged: [],
    });
  });
});
