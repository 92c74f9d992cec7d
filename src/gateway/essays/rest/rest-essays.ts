import { randomUUID } from 'node:crypto';
import { parseBoundedJson, readProperty } from '../../../base/parse-json.ts';
import type { Redact } from '../../../base/redact.ts';
import { countWords } from '../../../base/words.ts';
import { ignore } from '../../telemetry/events.ts';
import { type Answered, type AnswerFault, type Endpoint, type Outcome, shed } from '../../upstream/outcome.ts';
import type { Slot } from '../../upstream/paid-call.ts';
import type { UpstreamClient } from '../../upstream/upstream-client.ts';
import { findRefusal, toUpstreamError, type UpstreamErrorEvents } from '../../upstream/upstream-error.ts';
import type { Essay, EssayFailure, EssayInput, EssayMode, EssaySender, EssayStep, OrderInput } from '../port.ts';
import { readHtml } from './read-body.ts';
import { type DeclaredFields, readEssay } from './read-essay.ts';

interface RestEssaysOptions {
  client: Pick<UpstreamClient, 'reserve'>;
  /** The value of `mode` on the wire. */
  modeNames: Readonly<Record<EssayMode, string>>;
  declared: DeclaredFields;
  /** Whether the gateway starts the service, whose format is known. Only then its report of what wrote an essay is trusted. */
  isSelfHosted?: boolean;
  /** How long essays are stored. */
  keepMs: number;
  /** Applied to the service's error messages before a client sees them. */
  redact: Redact;
  /** Called with the outcome of each order. */
  onOutcome?: (outcome: Outcome) => void;
  events: UpstreamErrorEvents;
}

/** Orders essays over REST. An order is one operation, which may be charged even if it fails. */
export function createRestEssays(options: RestEssaysOptions): EssaySender {
  const { client, modeNames, declared, isSelfHosted = false, keepMs, redact, onOutcome = ignore, events } = options;
  const endpoint: Endpoint<SentOrder, Essay> = {
    method: 'POST',
    path: '/v2/generate/essay/',
    writeBody: ({ order }) => ({
      ...{ description: composeDescription(order), mode: modeNames[order.mode], word_count: order.wordCount },
    }),
    // Another service might answer a media type that it does not know with a failure.
    lines: ({ onText }) => (isSelfHosted ? { readText: readTextLine, ...(onText && { onText }) } : null),
    read: (answer, { order }) => (answer.status < 300 ? toEssay(answer, order) : null),
    findFault: (answer) => faults[statusOf(answer)] ?? 'unreadable',
  };

  return {
    async reserve(order, context, onText) {
      return toStep(await client.reserve(endpoint, context), { order, onText }, false);
    },
    reparse(order, text) {
      const json = parseBoundedJson(text);
      return toEssay({ status: 200, text, json }, order);
    },
  };

  function toStep(step: Outcome<Essay> | Slot<SentOrder, Essay>, sent: SentOrder, isSent: boolean): EssayStep {
    if (step.kind === 'slot')
      return {
        kind: 'slot',
        isOpen: () => step.isOpen(),
        send: async () => toStep(await step.send(sent), sent, true),
        release() {
          step.release();
          return toFailure(shed, isSent);
        },
      };
    onOutcome(step);
    if (step.kind === 'abandoned') throw step.reason;
    return (step.kind === 'answered' ? step.value : null) ?? toFailure(step, isSent);
  }

  /** Null if the answer has none. */
  function toEssay(
    answer: Pick<Answered, 'status' | 'text' | 'json'>,
    { idempotencyKey, orderAgain, ...input }: OrderInput,
  ): Essay | null {
    // A draft of the self-hosted service may repeat the description.
    const text = isSelfHosted
      ? readProperty(answer.json, 'essay')
      : readEssay(answer, input, composeDescription(input), declared)?.text;
    if (typeof text !== 'string' || text.trim() === '') return null;
    const writer = (isSelfHosted && writers[String(readProperty(answer.json, 'writer'))]) || 'SERVICE';
    const createdAt = new Date();
    const dates = { createdAt, keptUntil: new Date(createdAt.getTime() + keepMs) };
    const wordCount = countWords(text);
    return { kind: 'essay', id: randomUUID(), text, wordCount, mode: input.mode, writer, ...dates, input };
  }

  function toFailure(outcome: Exclude<Outcome, { kind: 'abandoned' }>, isSent: boolean): EssayFailure {
    const answer = outcome.kind === 'answered' ? { ...outcome, status: statusOf(outcome) } : null;
    if (answer && [400, 413, 422].includes(answer.status)) {
      const reason = readReason(answer.json ?? readHtml(answer.text), { isNested: false });
      const message = redact(reason ?? 'The essay service rejected the input and did not give a reason.').slice(0, 500);
      return { kind: 'invalid-input', message, problems: [] };
    }
    const failed = answer ? { ...answer, text: '', json: undefined } : outcome;
    const { message, code, retryable } = toUpstreamError('essays', failed, events);
    const renewsAt = 'renewsAt' in outcome ? outcome.renewsAt : 'retryAt' in outcome ? outcome.retryAt : null;
    if (code === 'UPSTREAM_ALLOWANCE_EXHAUSTED' || code === 'BUDGET_EXHAUSTED' || code === 'PAID_CALLS_EXCEEDED')
      return { kind: 'allowance-exhausted', message, code, renewsAt };
    const isReceived = outcome.kind === 'answered' && outcome.status < 300;
    const rawText = (isReceived || outcome.kind === 'failed') && outcome.text.trim() !== '' ? outcome.text : null;
    const isUnsent = outcome.kind !== 'failed' || outcome.reason === 'unreachable' || !isSent;
    const failure = { kind: 'service-failed', message, code, rawText } as const;
    if (answer ? answer.status >= 400 : isUnsent) return { ...failure, retryable };
    return { ...failure, retryable: false, outcome: isReceived ? 'unreadable' : 'unknown' };
  }

  /** The status for what the answer says: services word a refusal in bodies of any status. */
  function statusOf({ status, text, json }: Pick<Answered, 'status' | 'text' | 'json'>): number {
    const refusal = text.length < maxRefusalLength && status !== 429 ? findRefusal(json ?? text) : null;
    if (refusal === 'allowance') return 402;
    if (refusal === 'credentials') return 401;
    // The self-hosted service sends a failure after the first line of its text as the last line, after a head with status 200.
    return isSelfHosted && status === 200 && typeof readProperty(json, 'error') === 'string' ? 500 : status;
  }
}

interface SentOrder {
  order: OrderInput;
  onText?: ((textSoFar: string) => void) | undefined;
}

/** What wrote an essay, as the self-hosted service reports it. */
const writers: Readonly<Record<string, Essay['writer']>> = { drafter: 'DRAFTER', model: 'MODEL' };
/** A longer body may have an essay that is not recognized. */
const maxRefusalLength = 2_000;

/** What is wrong with an answer, by the status for what it says. */
const faults: Readonly<Record<number, AnswerFault>> = { 401: 'credentials', 402: 'allowance' };

/** The description on the wire: the service has no parameters for purpose and titles, and documents it as the place for instructions. */
function composeDescription({ description, purpose, titles }: EssayInput): string {
  const sentences = [description.trim()];
  if (purpose) sentences.push(`Writing purpose: ${purpose.toLowerCase()}.`);
  if (titles.length > 0) sentences.push(`Title options: ${titles.map(quoteTitle).join(', ')}.`);
  return sentences.join('\n\n');
}

/** In quotation marks if it could be read as two titles, or as the end of the list; in those that it does not contain. */
function quoteTitle(title: string): string {
  const text = title.trim();
  const marks = ['""', '“”', '«»'].find((pair) => ![...text].some((letter) => pair.includes(letter)));
  return marks && /[,，、"“«]|\.\s/.test(text) ? `${marks[0]}${text}${marks[1]}` : text;
}

/** The text that a line of the self-hosted service adds; null if it is the answer. */
function readTextLine(line: unknown): string | null {
  const text = readProperty(line, 'text');
  return typeof text === 'string' ? text : null;
}

/** Why the input was rejected, in any of the usual forms: a text, a field, errors in a list or by their fields. */
function readReason(value: unknown, { isNested = true } = {}): string | null {
  if (typeof value === 'string' && value.trim() !== '') return value;
  if (typeof value !== 'object' || value === null) return null;
  const names = ['message', 'detail', 'msg', 'reason', 'error', 'errors', 'title'];
  const named = names.map((name) => readProperty(value, name));
  const others = isNested || Array.isArray(value) ? Object.values(value) : [];
  return [...named, ...others].map((child) => readReason(child)).find((reason) => reason !== null) ?? null;
}
