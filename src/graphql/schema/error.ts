import type { UpstreamErrorCode } from '../../errors.ts';
import { builder } from './builder.ts';

export const ErrorType = builder.interfaceRef<{ message: string }>('Error').implement({
  description: 'A failure that the client can act on.',
  fields: (t) => ({ message: t.exposeString('message', { description: 'What went wrong, as a message for users.' }) }),
});

export const UpstreamErrorCodeType = builder.enumType('UpstreamErrorCode', {
  description: 'How a service failed.',
  values: {
    UPSTREAM_REJECTED_CREDENTIALS: { description: "It rejected the gateway's key: contact the operator." },
    UPSTREAM_ALLOWANCE_EXHAUSTED: { description: 'Its allowance is exhausted: wait until it renews.' },
    UPSTREAM_UNAVAILABLE: {
      description: 'It was not called: it keeps failing, too many calls wait, or a store failed. Retry later.',
    },
    UPSTREAM_TIMED_OUT: { description: 'It did not respond completely before the deadline: retry later.' },
    UPSTREAM_FAILED: { description: 'It failed, closed the connection, or sent a response that cannot be parsed.' },
  } satisfies Record<UpstreamErrorCode, { description: string }>,
});
