import { randomUUID } from 'node:crypto';
import { errorCodeOf, type ServiceName } from '../../base/errors.ts';
import type { Redact } from '../../base/redact.ts';
import type { EndedCall, Events, PaidCall } from '../telemetry/events.ts';
import { createAuditFiles } from './audit-files.ts';
import { type AuditFields, type AuditLine, createChain } from './chain.ts';

interface AuditTrailOptions {
  folder: string;
  keepDays: number;
  /** The services whose calls are charged. */
  services: readonly ServiceName[];
  /** Applied to the texts that clients choose: a request id or the name of an operation may look like an IBAN. */
  redact: Redact;
  events: Pick<Events, 'auditFailed' | 'auditRecovered'>;
  /** Lines in memory while they cannot be written: about 20 MB. */
  maxWaiting?: number;
}

/**
 * Writes a line before each paid call is sent, and one after it. The lines of one turn of the event loop are one write, for which the
 * calls of the turn wait. If it fails, calls continue: a full disk must not stop a gateway whose counts limit what is spent.
 * The lines are kept in memory, and written when that is possible again.
 */
export function createAuditTrail(options: AuditTrailOptions) {
  const { folder, keepDays, services, redact, events, maxWaiting = 50_000 } = options;
  const files = createAuditFiles({ folder, keepDays, process: randomUUID().slice(0, 8) });
  const createLine = createChain();
  /** The numbers of the first lines of calls that have not ended. */
  const open = new Map<PaidCall, number>();
  let waiting: AuditLine[] = [];
  let turn: Promise<void> | null = null;
  let isEndScheduled = false;
  let hasLines = false;
  let hasFailed = false;
  let retryAt = 0;
  let lost = 0;

  return {
    events: { callBegins, callEnded } satisfies Partial<Events>,
    /** Writes what is left, and a last line, by which an orderly end differs from one by a crash. */
    close(): void {
      if (hasLines) add({ closed: true });
      retryAt = 0;
      write();
      write();
      if (waiting.length > 0) events.auditFailed(`${waiting.length + lost} lines are lost`);
      files.close();
    },
  };

  function callBegins(call: PaidCall): void {
    if (!services.includes(call.service)) return;
    const { caller, requestId, orderId, operation, documentId } = call.origin;
    const number = add({
      service: call.service,
      tool: call.path.slice(call.path.lastIndexOf('/') + 1),
      caller,
      request: requestId && redact(requestId),
      order: orderId,
      operation: operation && redact(operation),
      document: documentId && redact(documentId),
      cause: call.cause,
    });
    if (number === null) return;
    open.set(call, number);
    // Not an immediate: the calls that begin in this turn have begun when its promises are settled.
    turn ??= new Promise((resolve) => process.nextTick(endTurn, resolve));
    call.ready = turn;
  }

  function endTurn(resolve: () => void): void {
    turn = null;
    write();
    resolve();
  }

  function callEnded(call: PaidCall, { kind, status, reason }: EndedCall, isSent: boolean): void {
    const number = open.get(call);
    if (number === undefined) return;
    open.delete(call);
    const isAnswered = kind === 'answered';
    const outcome = isAnswered ? kind : (reason ?? (isSent ? 'abandoned' : 'not-sent'));
    const isServed = isAnswered && (status ?? 0) < 400;
    const charged = !isSent || reason === 'unreachable' ? 'no' : isServed ? 'yes' : 'unknown';
    add({ of: number, outcome, status: status ?? null, charged });
    if (isEndScheduled) return;
    isEndScheduled = true;
    setImmediate(() => {
      isEndScheduled = false;
      write();
    });
  }

  /** @returns the number of the line; null if it is lost, because too many wait */
  function add(fields: AuditFields): number | null {
    if (waiting.length >= maxWaiting) {
      lost += 1;
      return null;
    }
    const line = createLine(fields);
    waiting.push(line);
    hasLines = true;
    return line.number;
  }

  /** Writes what waits; after a failure, once a second at most. */
  function write(): void {
    if (waiting.length === 0 || performance.now() < retryAt) return;
    try {
      while (waiting.length > 0) {
        const { day } = waiting[0] as AuditLine;
        const next = waiting.findIndex((line) => line.day !== day);
        const lines = next === -1 ? waiting : waiting.slice(0, next);
        files.append(day, lines);
        waiting = waiting.slice(lines.length);
      }
    } catch (error) {
      retryAt = performance.now() + retryMs;
      if (!hasFailed) events.auditFailed(errorCodeOf(error) ?? 'unknown');
      hasFailed = true;
      return;
    }
    if (!hasFailed) return;
    hasFailed = false;
    events.auditRecovered(lost);
    if (lost > 0) add({ lost });
    lost = 0;
  }
}

const retryMs = 1_000;
