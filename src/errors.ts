/** The two upstreams, as clients and operators name them. */
export type ServiceName = 'bank-data' | 'essays';

/** Our codes in `extensions.code`, beside those of GraphQL itself. Stable: front ends switch on them. */
export type ErrorCode =
  | 'BAD_USER_INPUT'
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'RATE_LIMITED'
  | UpstreamErrorCode
  | 'INTERNAL_SERVER_ERROR';

/** Those that say how an upstream failed. */
export type UpstreamErrorCode =
  | 'UPSTREAM_REJECTED_CREDENTIALS'
  | 'UPSTREAM_ALLOWANCE_EXHAUSTED'
  | 'UPSTREAM_UNAVAILABLE'
  | 'UPSTREAM_TIMED_OUT'
  | 'UPSTREAM_FAILED';

interface GatewayErrorOptions {
  service?: ServiceName;
  /** Whether the same request may succeed when it is sent again. */
  retryable?: boolean;
  cause?: unknown;
}

/**
 * A failure we foresee. Its message is written for the client: it holds no IBAN, no key, no URL and nothing an
 * upstream said. What an operator needs besides stands in `cause`, which is logged and never shown.
 */
export class GatewayError<Code extends ErrorCode = ErrorCode> extends Error {
  readonly code: Code;
  readonly service: ServiceName | null;
  readonly retryable: boolean;

  constructor(code: Code, message: string, { service, retryable = false, cause }: GatewayErrorOptions = {}) {
    super(message, { cause });
    this.name = 'GatewayError';
    this.code = code;
    this.service = service ?? null;
    this.retryable = retryable;
  }
}

/** Says, variable by variable, what is wrong and what would be right. Never holds a value: it may be a secret. */
export class ConfigError extends Error {
  constructor(complaints: readonly string[]) {
    super(`The configuration is not usable:\n${complaints.map((complaint) => `  ${complaint}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/** The code that Node.js and libraries give an error, such as ECONNRESET; null where it has none. */
export function errorCodeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}
