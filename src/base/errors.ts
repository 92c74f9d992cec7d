/** The two upstreams, as clients and operators know them. */
export const serviceNames = ['bank-data', 'essays'] as const;

export type ServiceName = (typeof serviceNames)[number];

export const upstreamErrorCodes = [
  'UPSTREAM_REJECTED_CREDENTIALS',
  'UPSTREAM_ALLOWANCE_EXHAUSTED',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_TIMED_OUT',
  'UPSTREAM_FAILED',
] as const;
export type UpstreamErrorCode = (typeof upstreamErrorCodes)[number];

const ownErrorCodes = [
  'BAD_USER_INPUT',
  'UNAUTHENTICATED',
  'ISSUER_UNAVAILABLE',
  'FORBIDDEN',
  'RATE_LIMITED',
  'BUDGET_EXHAUSTED',
  'PAID_CALLS_EXCEEDED',
  'OVERLOADED',
  ...upstreamErrorCodes,
  'INTERNAL_SERVER_ERROR',
] as const;

/** Our codes in `extensions.code`, in addition to those of GraphQL servers. Stable: clients switch on them. */
export type ErrorCode = (typeof ownErrorCodes)[number];

/** All codes in `extensions.code`. */
export const errorCodes: readonly string[] = [
  ...ownErrorCodes,
  'BAD_REQUEST',
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'PERSISTED_QUERY_NOT_FOUND',
  'PERSISTED_QUERY_MISMATCH',
  'QUERY_NOT_IN_SAFELIST',
  'TOO_MANY_ERRORS',
];

export const storeFailures = [
  'full',
  'read-only',
  'unreachable',
  'timeout',
  'credentials',
  'wrong-secret',
  'corrupt',
  'other',
] as const;
/** Why a store does not work, as an operator has to know it. */
export type StoreFailure = (typeof storeFailures)[number];

/** `eviction`: it may delete what was paid for; `no_aof`: a restart loses it. */
export const storeRisks = ['eviction', 'no_aof'] as const;
export type StoreRisk = (typeof storeRisks)[number];

export const internalErrorMessage = 'Internal error; the gateway logged it under this requestId.';

interface GatewayErrorOptions {
  service?: ServiceName;
  /** Whether the same request may succeed when it is sent again. */
  retryable?: boolean;
  cause?: unknown;
}

/**
 * An expected failure. Clients see its message, so it contains no IBAN, key, URL or upstream response. Details for
 * operators belong in `cause`, which is logged and never shown.
 */
export class GatewayError<Code extends ErrorCode = ErrorCode> extends Error {
  readonly code: Code;
  readonly service: ServiceName | null;
  readonly retryable: boolean;

  constructor(code: Code, message: string, { service, retryable = false, cause }: GatewayErrorOptions = {}) {
    // A query may create thousands, and a stack trace takes longer than everything else. No log contains it.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, { cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'GatewayError';
    this.code = code;
    this.service = service ?? null;
    this.retryable = retryable;
  }
}

/** A wrong argument of the `ledgerquill` command. The message says what is wrong and what would be right. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** Lists what is wrong with each variable, or file of the gateway, and what would be right. Contains no secret. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[], title = 'The configuration is invalid') {
    super(`${title}:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** What was thrown, in words. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code that Node.js and libraries assign to errors, such as ECONNRESET; null where there is none. */
export function errorCodeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}
