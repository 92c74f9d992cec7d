import { randomUUID } from 'node:crypto';
import { parseBoundedJson, readProperty } from '../../../base/parse-json.ts';
import type { Redact } from '../../../base/redact.ts';
import { countWords } from '../../../base/words.ts';
import type { Answered, Outcome } from '../../upstream/outcome.ts';
import type { UpstreamClient } from '../../upstream/upstream-client.ts';
import {
  createBudgetError,
  findRefusal,
  toUpstreamError,
  type UpstreamErrorEvents,
} from '../../upstream/upstream-error.ts';
import type { Essay, EssayMode, EssayOrder, EssayResult, SendingEssayGenerator } from '../essays.ts';
import { readHtml } from './read-body.ts';
import { type DeclaredFields, readEssay } from './read-essay.ts';

interface RestEssaysOptions {
  client: Pick<UpstreamClient, 'send'>;
  /** The value of `mode` on the wire. */
  modeNames: Readonly<Record<EssayMode, string>>;
  declared: DeclaredFields;
  /** Whether the gateway starts the service, whose format is known. Only then its report of what wrote an essay is trusted. */
  isSelfHosted?: boolean;
  /** How long essays are stored. */
  keepMs: number;
  /** Applied to the service's error messages before a client sees them. */
  redact: Redact;
  events: UpstreamErrorEvents;
}

/** Orders essays over REST. An order is one operation, which may be charged even if it fails. */
export function createRestEssays(options: RestEssaysOptions): SendingEssayGenerator {
  const { client, modeNames, declared, isSelfHosted = false, keepMs, redact, events } = options;

  return {
    async generate(order, context, { onText, ...hooks }) {
      // Another service might answer a media type that it does not know with a failure.
      const lines = isSelfHosted ? { lines: { readText: readTextLine, ...(onText && { onText }) } } : {};
      const description = composeDescription(order);
      const body = { description, mode: modeNames[order.mode], word_count: order.wordCount };
      let isSent = false;
      const beforeAttempt = () => {
        hooks.beforeAttempt();
        isSent = true;
      };
      const path = '/v2/generate/essay/';
      const request = { method: 'POST', path, body, ...lines, ...hooks, beforeAttempt } as const;
      const outcome = await client.send(request, context);
      const text = isSuccess(outcome) ? findText(outcome, order, description) : null;
      return text === null ? toFailure(outcome, isSent) : toEssay(text, order, outcome);
    },
    readAgain(order, text) {
      const head = { kind: 'answered', status: 200, headers: {}, retryAt: null } as const;
      const answer: Answered = { ...head, text, json: parseBoundedJson(text) };
      const essay = findText(answer, order, composeDescription(order));
      return essay === null ? null : toEssay(essay, order, answer);
    },
  };

  function findText(answer: Answered, order: EssayOrder, sent: string): string | null {
    // A draft of the self-hosted service may repeat the description.
    const essay = isSelfHosted ? readProperty(answer.json, 'essay') : readEssay(answer, order, sent, declared)?.text;
    return typeof essay === 'string' && essay.trim() !== '' ? essay : null;
  }

  function toEssay(text: string, order: EssayOrder, outcome: Outcome): Essay {
    const { idempotencyKey, orderAgain, ...input } = order;
    const writer = isSelfHosted && outcome.kind === 'answered' ? readWriter(outcome.json) : 'SERVICE';
    const createdAt = new Date();
    const dates = { createdAt, keptUntil: new Date(createdAt.getTime() + keepMs) };
    const wordCount = countWords(text);
    return { kind: 'essay', id: randomUUID(), text, wordCount, mode: order.mode, writer, ...dates, input };
  }

  function toFailure(outcome: Outcome, isSent: boolean): EssayResult {
    if (outcome.kind === 'budget-exhausted') {
      const { message } = createBudgetError('essays', outcome);
      return { kind: 'allowance-exhausted', message, code: 'BUDGET_EXHAUSTED', renewsAt: outcome.renewsAt };
    }
    if (outcome.kind === 'answered') return toRefusal(outcome);
    const { message, code, retryable } = toUpstreamError('essays', outcome, events);
    if (outcome.kind === 'exhausted') return toExhausted(message, outcome.renewsAt);
    if (outcome.kind === 'blocked') return toExhausted(message, outcome.retryAt);
    if (outcome.kind === 'shed' || outcome.reason === 'unreachable' || !isSent)
      return { kind: 'service-failed', message, code, retryable, rawText: null };
    const rawText = orNull(outcome.text);
    return { kind: 'service-failed', message, code, retryable: false, rawText, outcome: 'unknown' };
  }

  /** Services word a refusal in bodies of any status. */
  function toRefusal(answer: Answered): EssayResult {
    const refusal = answer.text.length < maxRefusalLength ? findRefusal(answer.json ?? answer.text) : null;
    const isWorded = refusal === 'allowance' || refusal === 'credentials';
    if (!isWorded && [400, 413, 422].includes(answer.status)) {
      const reason = readReason(answer.json ?? readHtml(answer.text), { isNested: false });
      const message = redact(reason ?? 'The essay service rejected the input and did not give a reason.').slice(0, 500);
      return { kind: 'invalid-input', message, field: null, problems: [] };
    }
    const status = isWorded && answer.status !== 429 ? refusalStatuses[refusal] : lastStatus(answer);
    const failed = { ...answer, status, text: '', json: undefined };
    const { message, code, retryable } = toUpstreamError('essays', failed, events);
    if (code === 'UPSTREAM_ALLOWANCE_EXHAUSTED') return toExhausted(message, answer.retryAt);
    const rawText = isSuccess(answer) ? orNull(answer.text) : null;
    if (status >= 400) return { kind: 'service-failed', message, code, retryable, rawText };
    const outcome = isSuccess(answer) ? 'unreadable' : 'unknown';
    return { kind: 'service-failed', message, code, retryable: false, rawText, outcome };
  }

  /** The self-hosted service sends a failure after the first line of its text as the last line, after a head with status 200. */
  function lastStatus({ status, json }: Answered): number {
    return isSelfHosted && status === 200 && typeof readProperty(json, 'error') === 'string' ? 500 : status;
  }
}

/** A longer body may have an essay that is not recognized. */
const maxRefusalLength = 2_000;
const refusalStatuses = { allowance: 402, credentials: 401 };

function toExhausted(message: string, renewsAt: Date | null): EssayResult {
  return { kind: 'allowance-exhausted', message, code: 'UPSTREAM_ALLOWANCE_EXHAUSTED', renewsAt };
}

/**
 * The description on the wire. The service has no parameters for purpose and titles, and documents the description as
 * the place for instructions.
 */
function composeDescription({ description, purpose, titles }: EssayOrder): string {
  const sentences = [description.trim()];
  if (purpose) sentences.push(`Writing purpose: ${purpose.toLowerCase()}.`);
  if (titles.length > 0) sentences.push(`Title options: ${titles.map(quoteTitle).join(', ')}.`);
  return sentences.join('\n\n');
}

/** In quotation marks if it could be read as two titles, or as the end of the list; in those that it does not contain. */
function quoteTitle(title: string): string {
  const text = title.trim();
  if (!/[,，、"“«]|\.\s/.test(text)) return text;
  const marks = ['""', '“”', '«»'].find(([open = '', close = '']) => !text.includes(open) && !text.includes(close));
  return marks ? `${marks[0]}${text}${marks[1]}` : text;
}

/** The text that a line of the self-hosted service adds; null if it is the answer. */
function readTextLine(line: unknown): string | null {
  const text = readProperty(line, 'text');
  return typeof text === 'string' ? text : null;
}

/** What wrote the essay, as the self-hosted service reports it. */
function readWriter(json: unknown): Essay['writer'] {
  const writer = readProperty(json, 'writer');
  if (writer === 'drafter') return 'DRAFTER';
  return writer === 'model' ? 'MODEL' : 'SERVICE';
}

function isSuccess(outcome: Outcome): outcome is Answered {
  return outcome.kind === 'answered' && outcome.status >= 200 && outcome.status < 300;
}

/** Why the input was rejected, in any of the usual forms: a text, a field, errors in a list or by their fields. */
function readReason(value: unknown, { isNested = true } = {}): string | null {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? orNull(value) : null;
  const named = reasonNames.map((name) => readProperty(value, name));
  const others = isNested || Array.isArray(value) ? Object.values(value) : [];
  return [...named, ...others].map((child) => readReason(child)).find((reason) => reason !== null) ?? null;
}

const reasonNames = ['message', 'detail', 'msg', 'reason', 'error', 'errors', 'title'];

function orNull(text: string): string | null {
  return text.trim() === '' ? null : text;
}
