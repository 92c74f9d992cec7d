import { randomUUID } from 'node:crypto';
import { closeSync, fstatSync, ftruncateSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createFolder } from '../../base/data-folder.ts';
import { errorCodeOf, type ServiceName } from '../../base/errors.ts';
import type { Redact } from '../../base/redact.ts';
import type { CallInfo, EndedCall, Events } from '../telemetry/events.ts';
import { listAuditFiles } from './read-audit.ts';

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

/** A line as it is stored: JSON, with its number `n`, time and content. */
interface AuditLine {
  /** In UTC, such as 2026-11-27. */
  day: string;
  text: string;
}

type Content = Readonly<Record<string, string | number | boolean | null>>;

/**
 * Writes a line for each paid call when it has ended; for an order, one before it is sent as well. The lines of one turn of the event
 * loop are one write. If it fails, calls continue: a full disk must not stop a gateway whose counts limit what is spent. The lines
 * are kept in memory, and written when that is possible again.
 */
export function createAuditTrail(options: AuditTrailOptions) {
  const { folder, keepDays, services, redact, events, maxWaiting = 50_000 } = options;
  /** Part of the name of each file, so that no two processes write one. */
  const processId = randomUUID().slice(0, 8);
  /** The numbers of the first lines of orders that have not ended. */
  const open = new Map<CallInfo, number>();
  let isTooOld: ReturnType<typeof createAgeCheck> | null = null;
  let lastNumber = 0;
  let file: { day: string; fd: number; size: number } | null = null;
  let waiting: AuditLine[] = [];
  let isScheduled = false;
  let hasFailed = false;
  let retry: NodeJS.Timeout | null = null;
  let lost = 0;

  return {
    events: { callBegins, callEnded, allowanceCorrected } satisfies Partial<Events>,
    /** Lines that could not be written, with those that did not fit into memory; 0 while the trail can be written. */
    unwrittenLines: () => (hasFailed ? waiting.length + lost : 0),
    /** Writes what is left, and a last line, by which an orderly end differs from one by a crash. */
    close(): void {
      writeAgain();
      if (lastNumber > 0) add({ closed: true });
      writeAgain();
      if (retry !== null) clearTimeout(retry);
      if (waiting.length > 0) events.auditFailed(`${waiting.length + lost} lines are lost`);
      closeFile();
    },
  };

  /** It is written at once: a crash leaves an order that is `open`. */
  function callBegins(call: CallInfo): void {
    if (!services.includes(call.service)) return;
    const number = add(describe(call));
    if (number !== null) open.set(call, number);
    write();
  }

  function callEnded(call: CallInfo, { outcome, isSent }: EndedCall): void {
    if (!services.includes(call.service)) return;
    const status = outcome?.kind === 'answered' ? outcome.status : null;
    const charged = !isSent ? 'no' : status !== null && status < 400 ? 'yes' : 'unknown';
    const number = open.get(call);
    open.delete(call);
    const ended = { outcome: nameOutcome(outcome, isSent), status, charged };
    add(number === undefined ? Object.assign(describe(call), ended) : { of: number, ...ended });
    if (!isScheduled) setImmediate(write);
    isScheduled = true;
  }

  function allowanceCorrected(service: ServiceName, from: number, to: number): void {
    add({ corrected: service, from, to });
    write();
  }

  function describe({ service, path, origin, cause }: CallInfo) {
    const { caller, requestId, orderId, operation, documentId } = origin;
    return {
      service,
      tool: path.slice(path.lastIndexOf('/') + 1),
      caller,
      request: requestId && redact(requestId),
      order: orderId,
      operation: operation && redact(operation),
      document: documentId && redact(documentId),
      cause,
    };
  }

  /** @returns its number; null if it is lost, because too many wait */
  function add(content: Content): number | null {
    if (waiting.length >= maxWaiting) {
      lost += 1;
      return null;
    }
    lastNumber += 1;
    const at = new Date().toISOString();
    waiting.push({ day: at.slice(0, 10), text: `${JSON.stringify({ n: lastNumber, at, ...content })}\n` });
    return lastNumber;
  }

  /** Writes what waits; after a failure, once a second. */
  function write(): void {
    isScheduled = false;
    if (retry !== null) return;
    try {
      while (waiting.length > 0) {
        const day = waiting[0]?.day ?? '';
        let lines = 0;
        let text = '';
        for (; waiting[lines]?.day === day && lines < maxLinesPerWrite; lines += 1) text += waiting[lines]?.text;
        append(day, Buffer.from(text));
        waiting = waiting.slice(lines);
      }
    } catch (error) {
      retry = setTimeout(writeAgain, retryMs).unref();
      if (!hasFailed) events.auditFailed(errorCodeOf(error) ?? 'unknown');
      hasFailed = true;
      return;
    }
    if (hasFailed) recover();
  }

  /** Without calls, too: what is in memory would be lost with the process. */
  function writeAgain(): void {
    if (retry !== null) clearTimeout(retry);
    retry = null;
    write();
  }

  function recover(): void {
    hasFailed = false;
    events.auditRecovered(lost);
    if (lost > 0) add({ lost });
    lost = 0;
    write();
  }

  /** Appends all or nothing. It survives the end of the process, but not a crash of the machine. @throws a file system error */
  function append(day: string, bytes: Buffer): void {
    // Lines in a file that was deleted would be lost.
    if (file !== null && (file.day !== day || fstatSync(file.fd).nlink === 0)) closeFile();
    file ??= openFile(day);
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(file.fd, bytes, written);
    } catch (error) {
      // A full disk may have taken a part of it.
      ftruncateSync(file.fd, file.size);
      throw error;
    }
    file.size += written;
  }

  /** Opens a file of a new day, and deletes those that are too old. */
  function openFile(day: string) {
    createFolder(folder);
    isTooOld ??= createAgeCheck(folder, keepDays);
    for (const old of listAuditFiles(folder)) if (isTooOld(old.path, old.day)) rmSync(old.path, { force: true });
    const fd = openSync(join(folder, `${day}.${processId}.jsonl`), 'a', 0o600);
    return { day, fd, size: fstatSync(fd).size };
  }

  function closeFile(): void {
    if (file !== null) closeSync(file.fd);
    file = null;
  }
}

/**
 * Whether a file is too old to be kept, by the newest of its name and its modification time. What is too old depends on the files that
 * were there before, and on the time since: a clock that is years ahead deletes nothing.
 */
function createAgeCheck(folder: string, keepDays: number): (path: string, day: string) => boolean {
  const newestOf = (path: string, day: string) =>
    Math.max(Date.parse(day), statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  const startedAt = performance.now();
  const times = listAuditFiles(folder).map(({ path, day }) => newestOf(path, day));
  const newest = times.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...times);
  return (path, day) => {
    const now = Math.min(Date.now(), newest + performance.now() - startedAt);
    const today = now - (now % dayMs);
    return newestOf(path, day) < today - keepDays * dayMs;
  };
}

function nameOutcome(outcome: EndedCall['outcome'], isSent: boolean): string {
  if (outcome === null) return isSent ? 'abandoned' : 'not-sent';
  return outcome.kind === 'answered' ? 'answered' : outcome.reason;
}

const dayMs = 86_400_000;
const retryMs = 1_000;
/** About 400 kB: a write that fails is repeated. */
const maxLinesPerWrite = 1_000;
