import type { UpstreamErrorCode } from '../../errors.ts';
import { builder } from './builder.ts';

export const ErrorType = builder.interfaceRef<{ message: string }>('Error').implement({
  description: 'A failure that the client may do something about.',
  fields: (t) => ({ message: t.exposeString('message', { description: 'What went wrong, for people.' }) }),
});

export const UpstreamErrorCodeType = builder.enumType('UpstreamErrorCode', {
  description: 'How a service failed.',
  values: {
    UPSTREAM_REJECTED_CREDENTIALS: { description: "It does not take the gateway's key: the operator must look." },
    UPSTREAM_ALLOWANCE_EXHAUSTED: { description: 'Its allowance is used up: wait for its renewal.' },
    UPSTREAM_UNAVAILABLE: { description: 'It keeps failing, or too many wait for it, so it was not asked: try later.' },
    UPSTREAM_TIMED_OUT: { description: 'No whole answer came before the deadline: try later.' },
    UPSTREAM_FAILED: { description: 'It failed, broke off, or gave an answer that cannot be read.' },
  } satisfies Record<UpstreamErrorCode, { description: string }>,
});
