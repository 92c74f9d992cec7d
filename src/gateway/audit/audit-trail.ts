import { hash, randomUUID } from 'node:crypto';
import { closeSync, fstatSync, ftruncateSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createFolder } from '../../base/data-folder.ts';
import { errorCodeOf, type ServiceName } from '../../base/errors.ts';
import type { Redact } from '../../base/redact.ts';
import type { EndedCall, Events, PaidCall } from '../telemetry/events.ts';
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

/** A line as it is stored: JSON, with its number `n`, time, content and hashes. */
interface AuditLine {
  /** In UTC, such as 2026-11-27. */
  day: string;
  text: string;
}

/**
 * Writes a line before each paid call is sent, and one after it. The lines of one turn of the event loop are one write, for which the
 * calls of the turn wait. If it fails, calls continue: a full disk must not stop a gateway whose counts limit what is spent.
 * The lines are kept in memory, and written when that is possible again.
 */
export function createAuditTrail(options: AuditTrailOptions) {
  const { folder, keepDays, services, redact, events, maxWaiting = 50_000 } = options;
  /** Part of the name of each file, so that no two processes write one. */
  const processId = randomUUID().slice(0, 8);
  /** The numbers of the first lines of calls that have not ended. */
  const open = new Map<PaidCall, number>();
  /** The last line of the process. */
  let last = { number: 0, hash: '' };
  let file: { day: string; fd: number } | null = null;
  let waiting: AuditLine[] = [];
  let turn: Promise<void> | null = null;
  let isEndScheduled = false;
  let hasFailed = false;
  let retry: NodeJS.Timeout | null = null;
  let lost = 0;

  return {
    events: { callBegins, callEnded } satisfies Partial<Events>,
    /** Lines that could not be written, with those that did not fit into memory; 0 while the trail can be written. */
    unwrittenLines: () => (hasFailed ? waiting.length + lost : 0),
    /** Writes what is left, and a last line, by which an orderly end differs from one by a crash. */
    close(): void {
      writeAgain();
      if (last.number > 0) add({ closed: true });
      writeAgain();
      if (retry !== null) clearTimeout(retry);
      if (waiting.length > 0) events.auditFailed(`${waiting.length + lost} lines are lost`);
      closeFile();
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

  function callEnded(call: PaidCall, ended: EndedCall): void {
    const number = open.get(call);
    if (number === undefined) return;
    open.delete(call);
    const status = ended.outcome?.kind === 'answered' ? ended.outcome.status : null;
    const charged = !ended.isSent ? 'no' : status !== null && status < 400 ? 'yes' : 'unknown';
    add({ of: number, outcome: nameOutcome(ended), status, charged });
    if (!isEndScheduled) setImmediate(write);
    isEndScheduled = true;
  }

  /**
   * Each line has the hash of the line before (`prev`) and its own (`hash`), which is that of the text before it: a line that is
   * changed, removed or moved is found.
   * @returns its number; null if it is lost, because too many wait
   */
  function add(content: Readonly<Record<string, string | number | boolean | null>>): number | null {
    if (waiting.length >= maxWaiting) {
      lost += 1;
      return null;
    }
    const number = last.number + 1;
    const at = new Date().toISOString();
    const text = JSON.stringify({ n: number, at, ...content, prev: last.hash }).slice(0, -1);
    last = { number, hash: hash('sha256', text, 'hex') };
    waiting.push({ day: at.slice(0, 10), text: `${text},"hash":"${last.hash}"}` });
    return number;
  }

  /** Writes what waits; after a failure, once a second. */
  function write(): void {
    isEndScheduled = false;
    if (retry !== null) return;
    try {
      while (waiting.length > 0) {
        const day = waiting[0]?.day ?? '';
        let lines = 0;
        let text = '';
        for (; waiting[lines]?.day === day && lines < maxLinesPerWrite; lines += 1) text += `${waiting[lines]?.text}\n`;
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
    const { size } = fstatSync(file.fd);
    try {
      for (let written = 0; written < bytes.length; ) written += writeSync(file.fd, bytes, written);
    } catch (error) {
      // A full disk may have taken a part of it.
      ftruncateSync(file.fd, size);
      throw error;
    }
  }

  /** Opens a file of a new day, and deletes those that are too old. */
  function openFile(day: string): { day: string; fd: number } {
    createFolder(folder);
    const firstDay = new Date(Date.parse(day) - keepDays * 86_400_000).toISOString().slice(0, 10);
    for (const old of listAuditFiles(folder)) if (old.day < firstDay) rmSync(old.path, { force: true });
    return { day, fd: openSync(join(folder, `${day}.${processId}.jsonl`), 'a', 0o600) };
  }

  function closeFile(): void {
    if (file !== null) closeSync(file.fd);
    file = null;
  }
}

function nameOutcome({ outcome, isSent }: EndedCall): string {
  if (outcome === null) return isSent ? 'abandoned' : 'not-sent';
  return outcome.kind === 'answered' ? 'answered' : outcome.reason;
}

const retryMs = 1_000;
/** About 400 kB: a write that fails is repeated. */
const maxLinesPerWrite = 1_000;
