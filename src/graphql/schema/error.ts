import type { UpstreamErrorCode } from '../../errors.ts';
import { builder } from './builder.ts';

export const ErrorType = builder.interfaceRef<{ message: string }>('Error').implement({
  description: 'A failure that the client can act on.',
  fields: (t) => ({ message: t.exposeString('message', { description: 'What went wrong, as text for people.' }) }),
});

export const UpstreamErrorCodeType = builder.enumType('UpstreamErrorCode', {
  description: 'How a service failed.',
  values: {
    UPSTREAM_REJECTED_CREDENTIALS: { description: "It rejected the gateway's key: contact the operator." },
    UPSTREAM_ALLOWANCE_EXHAUSTED: { description: 'Its allowance is used up: wait until it renews.' },
    UPSTREAM_UNAVAILABLE: { description: 'It keeps failing or is overloaded, so it was not called: retry later.' },
    UPSTREAM_TIMED_OUT: { description: 'It did not respond completely before the deadline: retry later.' },
    UPSTREAM_FAILED: { description: 'It failed, closed the connection, or sent a response that cannot be read.' },
  } satisfies Record<UpstreamErrorCode, { description: string }>,
});
