import { randomUUID } from 'node:crypto';
import { closeSync, fstatSync, ftruncateSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createFolder } from '../../base/data-folder.ts';
import { errorCodeOf, type ServiceName } from '../../base/errors.ts';
import { formatMoney, type Money, noPrices, type Prices } from '../../base/money.ts';
import type { Redact } from '../../base/redact.ts';
import type { CallOrigin } from '../request-context.ts';
import type { CallInfo, EndedCall, Events } from '../telemetry/events.ts';
import { listAuditFiles } from './read-audit.ts';

interface AuditTrailOptions {
  folder: string;
  /** Null: there are no files, as another program keeps what is written to `output`. */
  keepDays: number | null;
  /** Standard output, or standard error. */
  output?: 1 | 2;
  /** The services whose calls are charged. */
  services: readonly ServiceName[];
  /** What a call costs now: each line keeps the price of its time. */
  prices?: Prices;
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

/**
 * Writes a line for each paid call when it has ended; for an order, one before it is sent as well. The lines of one turn of the event
 * loop are one write. If it fails, calls continue: a full disk must not stop a gateway whose counts limit what is spent. The lines
 * are kept in memory, and written when that is possible again.
 */
export function createAuditTrail(options: AuditTrailOptions) {
  const { folder, keepDays, output = 1, services, prices = noPrices, redact, events, maxWaiting = 50_000 } = options;
  /** Part of the name of each file, so that no two processes write one; standard output has it in each line. */
  const processId = randomUUID().slice(0, 8);
  const isOutput = keepDays === null;
  const sink = isOutput ? createOutput(output) : createFiles(folder, keepDays, processId);
  const processMember = isOutput ? `"process":"${processId}",` : '';
  const toMember = (price: Money | null) => (price === null ? '' : `,"price":"${formatMoney(price)}"`);
  const priceMembers = { 'bank-data': toMember(prices['bank-data']), essays: toMember(prices.essays) };
  /** The numbers of the first lines of orders that have not ended. */
  const open = new Map<CallInfo, number>();
  /** What the lines of a request say of it: the calls of a list have it in common. */
  const described = new WeakMap<CallOrigin, string>();
  let time = { now: 0, day: '', at: '' };
  let lastNumber = 0;
  let waiting: AuditLine[] = [];
  let isScheduled = false;
  let hasFailed = false;
  /** Since when standard output takes no line; null: it does. */
  let fullSince: number | null = null;
  let retry: NodeJS.Timeout | null = null;
  let lost = 0;

  return {
    events: { orderCallBegins, callEnded, allowanceCorrected } satisfies Partial<Events>,
    /** Lines that could not be written, with those that did not fit into memory; 0 while the trail can be written. */
    unwrittenLines: () => (hasFailed ? waiting.length + lost : 0),
    /** Writes what is left, and a last line, by which an orderly end differs from one by a crash. */
    async close(): Promise<void> {
      writeAgain();
      if (lastNumber > 0) add('"closed":true');
      writeAgain();
      // A reader that is only slow takes the rest.
      for (let tries = 0; fullSince !== null && tries < maxClosingTries; tries += 1) {
        await pause(retryFullMs);
        writeAgain();
      }
      if (retry !== null) clearTimeout(retry);
      if (waiting.length > 0) events.auditFailed(`${waiting.length + lost} lines are lost`);
      sink.close();
    },
  };

  /** It is written at once: a crash leaves an order that is `open`. */
  function orderCallBegins(call: CallInfo): void {
    if (!services.includes(call.service)) return;
    const number = add(describe(call));
    if (number !== null) open.set(call, number);
    write();
  }

  function callEnded(call: CallInfo, { outcome, isSent }: EndedCall): void {
    if (!services.includes(call.service)) return;
    const answer = outcome?.kind === 'answered' ? outcome : null;
    const status = answer?.status ?? null;
    const isCharged = answer !== null && answer.status < 400 && !refusals.has(answer.fault);
    const charged = !isSent ? 'no' : isCharged ? 'yes' : 'unknown';
    const number = open.get(call);
    open.delete(call);
    const begin = number === undefined ? describe(call) : `"of":${number}`;
    add(`${begin},"outcome":"${nameOutcome(outcome, isSent)}","status":${status},"charged":"${charged}"`);
    if (!isScheduled) setImmediate(write);
    isScheduled = true;
  }

  function allowanceCorrected(service: ServiceName, from: number, to: number): void {
    add(`"corrected":"${service}","from":${from},"to":${to}`);
    write();
  }

  /** Written member by member: `JSON.stringify` takes ten times as long. Only what clients and callers' names contain needs its escapes. */
  function describe({ service, path, origin, cause }: CallInfo): string {
    let members = described.get(origin);
    if (members === undefined) {
      members = describeOrigin(origin);
      described.set(origin, members);
    }
    // The path of essays ends with a slash.
    const tool = path.slice(path.lastIndexOf('/', path.length - 2) + 1).replace('/', '');
    return `"service":"${service}","tool":"${tool}",${members},"cause":"${cause}"${priceMembers[service]}`;
  }

  function describeOrigin({ caller, requestId, orderId, operation, documentId }: CallOrigin): string {
    const members = {
      caller,
      request: requestId && redact(requestId),
      order: orderId,
      operation: operation && redact(operation),
      document: documentId && redact(documentId),
    };
    return JSON.stringify(members).slice(1, -1);
  }

  /** The lines of a millisecond have it in common. */
  function timeOfLine() {
    const now = Date.now();
    if (now !== time.now) {
      const at = new Date(now).toISOString();
      time = { now, day: at.slice(0, 10), at };
    }
    return time;
  }

  /** @param members of its JSON @returns its number; null if it is lost, because too many wait */
  function add(members: string): number | null {
    if (waiting.length >= maxWaiting) {
      lost += 1;
      fail('EAGAIN');
      return null;
    }
    lastNumber += 1;
    const { day, at } = timeOfLine();
    waiting.push({ day, text: `{${processMember}"n":${lastNumber},"at":"${at}",${members}}\n` });
    return lastNumber;
  }

  /** Writes what waits; after a failure, once a second. Standard output that is full for a moment has not failed. */
  function write(): void {
    isScheduled = false;
    if (retry !== null) return;
    const before = waiting.length;
    try {
      while (waiting.length > 0) {
        const day = waiting[0]?.day ?? '';
        let lines = 0;
        let text = '';
        for (; waiting[lines]?.day === day && lines < sink.maxLines; lines += 1) text += waiting[lines]?.text;
        sink.append(day, Buffer.from(text));
        waiting = waiting.slice(lines);
      }
    } catch (error) {
      const code = errorCodeOf(error) ?? 'unknown';
      const now = performance.now();
      if (code !== 'EAGAIN') fullSince = null;
      else if (fullSince === null || waiting.length < before) fullSince = now;
      const isSlow = fullSince !== null && now - fullSince < maxFullMs;
      retry = setTimeout(writeAgain, isSlow ? retryFullMs : retryMs).unref();
      if (!isSlow) fail(code);
      return;
    }
    fullSince = null;
    if (hasFailed) recover();
  }

  /** Without calls, too: what is in memory would be lost with the process. */
  function writeAgain(): void {
    if (retry !== null) clearTimeout(retry);
    retry = null;
    write();
  }

  function fail(code: string): void {
    if (!hasFailed) events.auditFailed(code);
    hasFailed = true;
  }

  function recover(): void {
    hasFailed = false;
    events.auditRecovered(lost);
    if (lost > 0) add(`"lost":${lost}`);
    lost = 0;
    write();
  }
}

/** Where lines are written. */
interface Sink {
  /** Of one write. */
  maxLines: number;
  /** @throws a file system error. Then it is called again with bytes that begin with these */
  append(day: string, bytes: Buffer): void;
  close(): void;
}

/** A file for each day. */
function createFiles(folder: string, keepDays: number, processId: string): Sink {
  let isTooOld: ReturnType<typeof createAgeCheck> | null = null;
  let file: { day: string; fd: number; size: number } | null = null;
  return { maxLines: maxLinesOfFile, append, close };

  /** Appends all or nothing. It survives the end of the process, but not a crash of the machine. */
  function append(day: string, bytes: Buffer): void {
    // Lines in a file that was deleted would be lost.
    if (file !== null && (file.day !== day || fstatSync(file.fd).nlink === 0)) close();
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

  function close(): void {
    if (file !== null) closeSync(file.fd);
    file = null;
  }
}

/** Standard output or error. A pipe that is full refuses with EAGAIN, and keeps what it has taken. */
function createOutput(fd: 1 | 2): Sink {
  // Node.js makes a pipe non-blocking when it opens the stream. Otherwise, a reader that has stopped would stop the process.
  void (fd === 1 ? process.stdout : process.stderr);
  /** Of the bytes that are not written completely. */
  let written = 0;
  return {
    maxLines: maxLinesOfPipe,
    append(_, bytes) {
      while (written < bytes.length) written += writeSync(fd, bytes, written);
      written = 0;
    },
    close() {},
  };
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

/** What an answer of any status may say. */
const refusals: ReadonlySet<string | null> = new Set(['allowance', 'credentials']);
const dayMs = 86_400_000;
const retryMs = 1_000;
/** About 400 kB: a write that fails is repeated. A pipe takes 64 kB. */
const maxLinesOfFile = 1_000;
const maxLinesOfPipe = 200;
const retryFullMs = 10;
const maxFullMs = 5_000;
const maxClosingTries = 100;
