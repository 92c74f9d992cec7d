import { isoDateOf } from '../../base/calendar-period.ts';
import type { Answers } from '../answers/answers.ts';
import type { BankFacts } from '../bank-facts.ts';
import type { Finding, Place } from '../finding.ts';
import { PartChecks } from './check-parts.ts';
import { SchemaComparison } from './check-schema.ts';
import { decodeXml } from './decode-xml.ts';
import { xpathOf } from './elements.ts';
import { MessageFindings } from './findings.ts';
import type { Profile } from './profiles.ts';
import { MessageReader } from './read-message.ts';
import { Refusal, type Scheme } from './rules.ts';
import type { StatusReport } from './status-report.ts';
import { printUnits } from './values.ts';

interface MessageCheckOptions {
  /** The IBANs that are well-formed are looked up. A rejection ends the check. */
  answers: Pick<Answers, 'find'>;
  banks: BankFacts;
  /** Identifications (`MsgId`) of the messages that were checked before; that of this one is added. */
  messageIds: Set<string>;
  /** ISO 8601, such as 2026-11-26. */
  today?: string;
  /** By whose rules payments are judged: without it, by those that each says that it follows. */
  profile?: Profile;
  /** What a bank says about the message. */
  report?: StatusReport | null;
  /** A larger file is refused. */
  maxBytes?: number;
  /** Findings that wait for answers while the message is read on: their transactions are in memory. */
  maxWaiting?: number;
}

/** What was read up to now; of the whole message after the last finding. */
export interface MessageSummary {
  /** Such as pain.001.001.09; null if it is not a message that is checked. */
  readonly message: string | null;
  readonly payments: number;
  readonly transactions: number;
  /** By whose rules transactions were judged. */
  readonly rules: readonly Scheme[];
  /** Different well-formed IBANs. */
  readonly ibans: number;
  /** The sums of all amounts that could be read, by currency, such as 12.50. */
  readonly sums: readonly { currency: string; sum: string }[];
  /** Whether it was read to its end; false if the file was refused. */
  readonly isComplete: boolean;
}

export interface MessageCheck extends AsyncIterable<Finding> {
  summary(): MessageSummary;
}

/**
 * Checks a pain.001 or pain.008 message while it is read, in bounded memory. Findings are in the order of the message; those about
 * the totals of a payment or of the message follow its last transaction. A file that cannot be read, or must not be, ends with one
 * finding about it. Messages contain no IBAN, but suggestions may. Can be iterated once.
 */
export function checkMessage(chunks: AsyncIterable<Buffer>, options: MessageCheckOptions): MessageCheck {
  const { answers, banks, messageIds, profile = 'auto', report = null, maxBytes = defaultMaxBytes } = options;
  const { today = isoDateOf(), maxWaiting = defaultMaxWaiting } = options;
  const findings = new MessageFindings(answers);
  const checks = new PartChecks({ findings, banks, messageIds, today, profile, report });
  const reader = new MessageReader(checks, new SchemaComparison(findings, profile));
  let isComplete = false;

  return {
    async *[Symbol.asyncIterator]() {
      yield* readMessage();
      yield* findings.take(() => true);
    },
    summary() {
      const { version, payments, totals, ibans, schemes } = checks.summary();
      const sums = [...totals.sums].map(([currency, units]) => ({ currency, sum: printUnits(units) }));
      const counts = { payments, transactions: totals.count, ibans };
      return { message: version?.name ?? null, ...counts, rules: [...schemes], sums, isComplete };
    },
  };

  async function* readMessage(): AsyncGenerator<Finding> {
    try {
      for await (const piece of decodeXml(chunks, { maxBytes, onEncoding })) {
        reader.write(piece);
        yield* findings.take(() => findings.waiting() > maxWaiting);
      }
      reader.end();
      isComplete = true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      checks.abandon();
      findings.addLast(error.code, placeOfRefusal(error), error.message);
    }
  }

  function placeOfRefusal({ code, line: lineOfCause }: Refusal): Place {
    const { line, element } = reader.position();
    return { line: code === 'NOT_XML' ? 1 : (lineOfCause ?? line), xpath: element === null ? '/' : xpathOf(element) };
  }

  function onEncoding(encoding: string): void {
    if (encoding === 'utf-8') return;
    const message = `The file is in ${encoding.toUpperCase()}. Save it in UTF-8, unless the bank agreed to another encoding.`;
    findings.addLast('ENCODING_NOT_UTF8', { line: 1, xpath: '/' }, message);
  }
}

/** A message of a million transactions has less than 1 GB. */
const defaultMaxBytes = 1_000_000_000;
/** Two full lists of a gateway. */
const defaultMaxWaiting = 5_000;
