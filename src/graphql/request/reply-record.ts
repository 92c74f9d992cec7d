import type { Usage } from '../../request-context.ts';
import type { FinishedReply, OperationType } from '../../telemetry/finished-request.ts';
import type { UpstreamActivity } from '../../upstream-activity.ts';
import type { Executed, OperationLabel } from '../documents/operation.ts';

/**
 * A reply as log, metrics and traces show it. A class, so that values are computed only when they are read. It refers to
 * no document, which would stay in memory until the response is written, and as long as a reply is kept.
 */
export class ReplyRecord implements FinishedReply {
  errorCodes: readonly string[] = noCodes;
  refusal: 'cost' | null = null;
  isKept = false;
  readonly usage: Usage | null;
  /** Null if no operation was executed, or the reply is kept. */
  activity: UpstreamActivity | null;
  readonly #label: OperationLabel | null;
  readonly #documentId: string | null;

  /** @param executed null if no operation was executed */
  constructor(executed: Executed | null) {
    this.usage = executed?.requestContext.usage ?? null;
    this.activity = executed?.requestContext.activity ?? null;
    this.#label = executed?.operation.label ?? null;
    this.#documentId = executed?.documentId ?? null;
  }

  get operationType(): OperationType | null {
    return this.#label?.type ?? null;
  }

  get operationName(): string {
    return this.#label?.name ?? '';
  }

  get documentId(): string | null {
    const id = this.#documentId ?? this.#label?.trust.trustedId ?? null;
    return id === null ? null : id.slice(0, idLength);
  }

  get isTrusted(): boolean {
    return (this.#label?.trust.trustedId ?? null) !== null;
  }
}

const noCodes: readonly string[] = [];
/** Enough of a SHA-256 hash to find the document; shorter ones can look like an IBAN, which the log redacts. */
const idLength = 32;
