import { randomUUID } from 'node:crypto';
import type { Redact } from '../../telemetry/redact.ts';
import type { Answered, Outcome } from '../../upstream/outcome.ts';
import type { UpstreamClient } from '../../upstream/upstream-client.ts';
import { createBudgetError, toUpstreamError, type UpstreamErrorEvents } from '../../upstream/upstream-error.ts';
import { countWords } from '../../words.ts';
import type { Essay, EssayMode, EssayOrder, EssayResult, SendingEssayGenerator } from '../essays.ts';
import { hideInternals } from './failure-signs.ts';
import { readEssayText, readProperty, readWriter } from './read-essay.ts';

interface RestEssaysOptions {
  client: Pick<UpstreamClient, 'send'>;
  /** The value of `mode` on the wire. */
  modeNames: Readonly<Record<EssayMode, string>>;
  /** The response field that holds the text, as a dotted path; null: it is recognized. */
  textField?: string | null;
  /** Whether the gateway starts the service. Only then its report of what wrote an essay is trusted. */
  isSelfHosted?: boolean;
  /** How long essays are stored. */
  keepMs: number;
  /** Applied to the service's error messages before a client sees them. */
  redact: Redact;
  events: UpstreamErrorEvents;
}

/** Orders essays over REST. An order is one operation, which may be charged even if it fails. */
export function createRestEssays({
  client,
  modeNames,
  textField = null,
  isSelfHosted = false,
  keepMs,
  redact,
  events,
}: RestEssaysOptions): SendingEssayGenerator {
  return {
    async generate(order, context, { onText, ...hooks }) {
      const body = {
        description: composeDescription(order),
        mode: modeNames[order.mode],
        word_count: order.wordCount,
      };
      const path = '/v2/generate/essay/';
      // Another service might answer a media type that it does not know with a failure.
      const lines = isSelfHosted ? { lines: { readText: readTextLine, ...(onText && { onText }) } } : {};
      const outcome = await client.send({ method: 'POST', path, body, ...lines, ...hooks }, context);
      return readEssay(outcome, order, body.description) ?? readRejection(outcome) ?? toFailure(outcome);
    },
  };

  function readEssay(outcome: Outcome, order: EssayOrder, description: string): Essay | null {
    if (!isSuccess(outcome)) return null;
    const { idempotencyKey, orderAgain, ...input } = order;
    const { mode, wordCount } = input;
    // The format of the self-hosted service is known, and its draft of a short order may repeat the description.
    const text = isSelfHosted ? readOwnEssay(outcome) : readEssayText(outcome, { description, wordCount }, textField);
    if (text === null) return null;
    const writer = isSelfHosted ? readWriter(outcome.json) : 'SERVICE';
    const createdAt = new Date();
    const keptUntil = new Date(createdAt.getTime() + keepMs);
    return {
      kind: 'essay',
      id: randomUUID(),
      text,
      wordCount: countWords(text),
      mode,
      writer,
      createdAt,
      keptUntil,
      input,
    };
  }

  function readRejection(outcome: Outcome): EssayResult | null {
    if (outcome.kind !== 'answered' || (outcome.status !== 400 && outcome.status !== 422)) return null;
    const message = readErrorMessage(outcome.json) ?? 'The essay service rejected the input and did not give a reason.';
    return { kind: 'invalid-input', message: hideInternals(redact(message)).slice(0, 500), field: null, problems: [] };
  }

  function toFailure(outcome: Outcome): EssayResult {
    if (outcome.kind === 'budget-exhausted') {
      const { message } = createBudgetError('essays', outcome);
      return { kind: 'allowance-exhausted', message, code: 'BUDGET_EXHAUSTED', renewsAt: outcome.renewsAt };
    }
    // A failure after the first line follows a head with status 200.
    const failed = isSelfHosted && isSuccess(outcome) && hasError(outcome) ? { ...outcome, status: 500 } : outcome;
    const { message, code, retryable } = toUpstreamError('essays', failed, events);
    const exhausted = { kind: 'allowance-exhausted', message, code: 'UPSTREAM_ALLOWANCE_EXHAUSTED' } as const;
    if (outcome.kind === 'exhausted') return { ...exhausted, renewsAt: outcome.renewsAt };
    if (
      outcome.kind === 'blocked' ||
      (outcome.kind === 'answered' && (outcome.status === 402 || outcome.status === 429))
    ) {
      return { ...exhausted, renewsAt: outcome.retryAt };
    }
    const receivedText = outcome.kind === 'failed' || isSuccess(outcome) ? hideInternals(outcome.text) : '';
    const rawText = receivedText.trim() === '' ? null : receivedText;
    return { kind: 'service-failed', message, code, retryable, rawText };
  }
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

/** The essay of the self-hosted service. */
function readOwnEssay({ json }: Answered): string | null {
  return firstText([readProperty(json, 'essay')]);
}

/** The text that a line of the self-hosted service adds; null if it is the answer. */
function readTextLine(line: unknown): string | null {
  const text = readProperty(line, 'text');
  return typeof text === 'string' ? text : null;
}

function isSuccess(outcome: Outcome): outcome is Answered {
  return outcome.kind === 'answered' && outcome.status >= 200 && outcome.status < 300;
}

function hasError({ json }: Answered): boolean {
  return typeof readProperty(json, 'error') === 'string';
}

/** The message of an error body, in any of the fields that the service and its resellers use. */
function readErrorMessage(body: unknown): string | null {
  const error = readProperty(body, 'error');
  const [firstOfErrors] = Object.values(readProperty(body, 'errors') ?? {}).flat();
  return firstText([error, readProperty(error, 'message'), readProperty(body, 'message'), firstOfErrors]);
}

function firstText(candidates: readonly unknown[]): string | null {
  const texts = candidates.filter((candidate) => typeof candidate === 'string');
  return texts.find((text) => text.trim() !== '') ?? null;
}
