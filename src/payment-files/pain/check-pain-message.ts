import { createTimeSlices } from '../../async/time-slices.ts';
import type { Finding, Place, Severity } from '../finding.ts';
import type { IbanRules } from './check-elements.ts';
import { createMessageCheck, type MatchBic } from './check-message.ts';
import { decodeXml } from './decode-xml.ts';
import { xpathOf } from './elements.ts';
import { createLookUps, type LookUpIban } from './look-ups.ts';
import type { Found } from './part-findings.ts';
import { createElementReader } from './read-elements.ts';
import { createFinding, Refusal } from './rules.ts';
import { printUnits } from './values.ts';

interface PainCheckOptions extends IbanRules {
  /**
   * Called once for each distinct IBAN that is well-formed. A rejection ends the check. Null: nothing is looked up, and the
   * summary says how many IBANs would be.
   */
  lookUpIban: LookUpIban | null;
  /** The check waits for this answer: its question must not wait for others any more. */
  hurry?: (iban: string) => void;
  matchBic: MatchBic;
  /** ISO 8601, such as 2026-11-26. */
  today: string;
  /** Identifications (`MsgId`) of the messages that were checked before; that of this one is added. */
  messageIds?: Set<string>;
  /** Look-ups at a time. The file is read on while they run, until there are four times as many without an answer. */
  maxLookUps?: number;
  /** A larger file is refused. */
  maxBytes?: number;
}

/** What was read up to now; of the whole message after the last finding. */
export interface PainSummary {
  /** Such as pain.001.001.09; null if it is not a message that is checked. */
  readonly message: string | null;
  readonly encoding: string | null;
  readonly payments: number;
  readonly transactions: number;
  /** Distinct well-formed IBANs: one look-up each. */
  readonly ibans: number;
  /** Of all amounts that could be read, by currency, such as 12.50. */
  readonly sums: readonly { currency: string; sum: string }[];
  readonly findings: Readonly<Record<Severity, number>>;
  /** Whether it was read to its end; false if the file was refused. */
  readonly isComplete: boolean;
}

export interface PainCheck extends AsyncIterable<Finding> {
  summary(): PainSummary;
}

/**
 * Checks a pain.001 or pain.008 message while it is read, in bounded memory. Findings are in the order of the message; those about
 * the totals of a payment or of the message follow its last transaction. A file that cannot be read, or must not be, ends with one
 * finding about it. Messages contain no IBAN, but suggestions may. Can be iterated once.
 */
export function checkPainMessage(chunks: AsyncIterable<Uint8Array>, options: PainCheckOptions): PainCheck {
  const { lookUpIban, hurry, matchBic, today, messageIds = new Set() } = options;
  const { maxLookUps = 64, maxBytes = defaultMaxBytes } = options;
  const queue: Entry[] = [];
  const lookUps = createLookUps({ lookUpIban, maxInFlight: maxLookUps });
  const check = createMessageCheck({ report, lookUps, ibanRules: options, matchBic, today, messageIds });
  const reader = createElementReader(check);
  const inTimeSlice = createTimeSlices(maxSliceMs);
  const counts: Record<Severity, number> = { error: 0, warning: 0, hint: 0 };
  let encoding: string | null = null;
  let isComplete = false;

  return {
    [Symbol.asyncIterator]: run,
    summary: () => ({
      message: check.version()?.name ?? null,
      encoding,
      payments: check.payments(),
      transactions: check.totals().count,
      ibans: lookUps.distinct(),
      sums: [...check.totals().sums].map(([currency, units]) => ({ currency, sum: printUnits(units) })),
      findings: { ...counts },
      isComplete,
    }),
  };

  async function* run(): AsyncGenerator<Finding> {
    try {
      yield* readMessage();
      yield* takeFindings(() => true);
    } finally {
      lookUps.stop();
    }
  }

  async function* readMessage(): AsyncGenerator<Finding> {
    try {
      for await (const piece of decodeXml(chunks, { maxBytes, onEncoding })) {
        await inTimeSlice(() => reader.write(piece));
        yield* takeFindings(() => lookUps.unanswered() > 4 * maxLookUps || queue.length > maxQueued);
      }
      reader.end();
      isComplete = true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      report(createFinding(error.code, placeOfRefusal(error), error.message));
    }
  }

  function placeOfRefusal({ code }: Refusal): Place {
    const current = reader.current();
    return { line: code === 'NOT_XML' ? 1 : reader.line(), xpath: current === null ? '/' : xpathOf(current) };
  }

  /** Those at the head of the queue that are known, and the others while they must be waited for. */
  async function* takeFindings(mustWait: () => boolean): AsyncGenerator<Finding> {
    for (let [entry] = queue; entry !== undefined && (entry.pending === null || mustWait()); [entry] = queue) {
      if (entry.pending !== null) hurry?.(entry.pending.iban);
      await entry.pending?.settled;
      queue.shift();
      const finding = entry.complete === null ? entry.finding : await inTimeSlice(entry.complete);
      if (finding === null) continue;
      counts[finding.severity] += 1;
      yield finding;
    }
  }

  function report(found: Found): void {
    const entry: Entry = { finding: null, pending: null, complete: null };
    queue.push(entry);
    if ('complete' in found) entry.complete = found.complete;
    else if ('answer' in found) {
      const settled = found.answer.then((answer) => {
        entry.finding = found.find(answer);
        entry.pending = null;
      });
      // A failure is thrown where it is waited for.
      settled.catch(() => {});
      entry.pending = { iban: found.iban, settled };
    } else entry.finding = found;
  }

  function onEncoding(found: string): void {
    encoding = found;
    if (found === 'utf-8') return;
    const message = `The file is in ${found.toUpperCase()}. Save it in UTF-8, unless the bank agreed to another encoding.`;
    report(createFinding('ENCODING_NOT_UTF8', { line: 1, xpath: '/' }, message));
  }
}

/** A message of a million transactions has less than 1 GB. */
const defaultMaxBytes = 1_000_000_000;
/** Work of the event loop in one go. A piece takes less than a millisecond. */
const maxSliceMs = 10;
/** Findings that wait for an earlier one. */
const maxQueued = 10_000;

/** A place in the order of the findings. */
interface Entry {
  /** Null while it is not known, and if there is none. */
  finding: Finding | null;
  /** The look-up that it depends on, until that has ended. */
  pending: { iban: string; settled: Promise<void> } | null;
  /** Adds a suggestion that takes up to a millisecond. */
  complete: (() => Finding) | null;
}
