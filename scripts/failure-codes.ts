/* The codes of errors, what they mean, and what to do: printed as a table of docs/operations.md. */

export const failureCodes: readonly (readonly [codes: string, meaning: string, action: string])[] = [
  [
    '`BAD_USER_INPUT`, `GRAPHQL_PARSE_FAILED`, `GRAPHQL_VALIDATION_FAILED`, `OPERATION_RESOLUTION_FAILURE`, `BAD_REQUEST`',
    'the input, document or HTTP request is invalid',
    'correct it as the message says',
  ],
  ['`TOO_MANY_ERRORS`', 'the number of the errors after the first 10,000', 'correct these'],
  [
    '`PERSISTED_QUERY_NOT_FOUND`, `PERSISTED_QUERY_MISMATCH`',
    'the hash is unknown, or does not match its text',
    'clients send the query with its hash by themselves',
  ],
  ['`UNAUTHENTICATED`', 'without valid credentials', 'send those of a [caller](security.md#callers)'],
  [
    '`ISSUER_UNAVAILABLE`',
    "the issuer's keys could not be read since the start",
    'retry after `Retry-After`; the log has the reason',
  ],
  [
    '`QUERY_NOT_IN_SAFELIST`',
    'the document is not [trusted](configuration.md#trusted-documents)',
    'add it to the manifests',
  ],
  ['`RATE_LIMITED`', 'the caller has sent its requests of this minute', 'retry after `Retry-After`'],
  ['`BUDGET_EXHAUSTED`', 'the caller has used its budget of paid calls', 'wait until it renews'],
  [
    '`PAID_CALLS_EXCEEDED`',
    'the operation may make more paid calls than [its request allows](paid-calls.md)',
    'ask for less, or allow more',
  ],
  [
    '`FORBIDDEN`',
    'with a path: a field outside the [scopes](security.md#scopes); without: a GET [without a required header](clients.md#get-and-persisted-queries), another origin, or a host that is not allowed',
    'select other fields; send the header, or POST; set `CORS_ORIGINS`, `ALLOWED_HOSTS`',
  ],
  [
    '`OVERLOADED`',
    'more bytes than `MAX_BUFFERED_BYTES` are being received',
    'retry later; find the client, or raise the limit',
  ],
  ['`UPSTREAM_REJECTED_CREDENTIALS`', "the service rejected the gateway's key", 'check the key'],
  [
    '`UPSTREAM_ALLOWANCE_EXHAUSTED`',
    'the allowance is used up, or the service said so',
    'wait until the date in the message',
  ],
  [
    '`UPSTREAM_UNAVAILABLE`',
    'not called: the service keeps failing, its queue is full, or the store fails',
    'retry later',
  ],
  [
    '`UPSTREAM_TIMED_OUT`',
    'no complete response before the deadline',
    'retry if `retryable`; an essay may have been [paid for](essay-orders.md)',
  ],
  ['`UPSTREAM_FAILED`', 'the service failed, cannot be reached or read, or lacks the endpoint', 'retry if `retryable`'],
  ['`INTERNAL_SERVER_ERROR`', 'a bug in the gateway; the log has the `requestId`', 'report it'],
];
