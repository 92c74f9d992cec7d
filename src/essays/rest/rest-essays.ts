import { randomUUID } from 'node:crypto';
import type { Events } from '../../telemetry/events.ts';
import type { Redact } from '../../telemetry/redact.ts';
import type { Answered, Outcome } from '../../upstream/outcome.ts';
import type { UpstreamClient } from '../../upstream/upstream-client.ts';
import { createBudgetError, toUpstreamError } from '../../upstream/upstream-error.ts';
import type { Essay, EssayMode, EssayOrder, EssayResult, SendingEssayGenerator } from '../essays.ts';

interface RestEssaysOptions {
  client: Pick<UpstreamClient, 'send'>;
  /** The value of `mode` on the wire. */
  modeNames: Readonly<Record<EssayMode, string>>;
  /** The response field that holds the text, as a dotted path; null: the well-known names are tried. */
  textField?: string | null;
  /** Applied to the service's error messages before a client sees them. */
  redact: Redact;
  events: Pick<Events, 'credentialsRejected' | 'requestRejected' | 'responseUnreadable'>;
}

/** Orders essays over REST. An order is one operation, which may be charged even if it fails. */
export function createRestEssays({
  client,
  modeNames,
  textField = null,
  redact,
  events,
}: RestEssaysOptions): SendingEssayGenerator {
  return {
    async generate(order, context, hooks) {
      const body = {
        description: composeDescription(order),
        mode: modeNames[order.mode],
        word_count: order.wordCount,
      };
      const path = '/v2/generate/essay/';
      const outcome = await client.send({ method: 'POST', path, body, ...hooks }, context);
      return readEssay(outcome, order.mode) ?? readRejection(outcome) ?? toFailure(outcome);
    },
  };

  function readEssay(outcome: Outcome, mode: EssayMode): Essay | null {
    if (!isSuccess(outcome)) return null;
    const text = readEssayText(outcome.json, textField);
    return text === null ? null : { kind: 'essay', id: randomUUID(), text, wordCount: countWords(text), mode };
  }

  function readRejection(outcome: Outcome): EssayResult | null {
    if (outcome.kind !== 'answered' || (outcome.status !== 400 && outcome.status !== 422)) return null;
    const message = readErrorMessage(outcome.json) ?? 'The essay service rejected the input and did not give a reason.';
    return { kind: 'invalid-input', message: redact(message).slice(0, 500), field: null, problems: [] };
  }

  function toFailure(outcome: Outcome): EssayResult {
    if (outcome.kind === 'budget-exhausted') {
      const { message } = createBudgetError('essays', outcome);
      return { kind: 'allowance-exhausted', message, renewsAt: outcome.renewsAt };
    }
    const { message, code, retryable } = toUpstreamError('essays', outcome, events);
    if (outcome.kind === 'exhausted') return { kind: 'allowance-exhausted', message, renewsAt: outcome.renewsAt };
    if (outcome.kind === 'blocked' || (outcome.kind === 'answered' && outcome.status === 429)) {
      return { kind: 'allowance-exhausted', message, renewsAt: outcome.retryAt };
    }
    const receivedText = outcome.kind === 'failed' || isSuccess(outcome) ? outcome.text : '';
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
  if (titles.length > 0) sentences.push(`Title options: ${titles.map((title) => title.trim()).join(', ')}.`);
  return sentences.join('\n\n');
}

function isSuccess(outcome: Outcome): outcome is Answered {
  return outcome.kind === 'answered' && outcome.status >= 200 && outcome.status < 300;
}

function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

/**
 * The essay in the body of a successful response. The shape of the body is not documented, so these are tried in order:
 * the configured field, the well-known names, a bare string, the longest string outside `error` and `errors`.
 */
function readEssayText(body: unknown, textField: string | null): string | null {
  const configured = textField?.split('.').reduce(readProperty, body);
  const data = readProperty(body, 'data');
  const named = (parent: unknown) => wellKnownNames.map((name) => readProperty(parent, name));
  return firstText([configured, ...named(body), data, ...named(data), body]) ?? findLongestText(body);
}

const wellKnownNames = ['essay', 'result', 'text', 'content'];
/** Protects the stack from a deeply nested body. */
const maxDepth = 50;

function findLongestText(body: unknown, depth = 0): string | null {
  if (typeof body === 'string') return firstText([body]);
  if (typeof body !== 'object' || body === null || depth > maxDepth) return null;
  const texts = Object.entries(body)
    .filter(([name]) => name !== 'error' && name !== 'errors')
    .map(([, value]) => findLongestText(value, depth + 1));
  return texts.reduce((longest, text) => ((text?.length ?? 0) > (longest?.length ?? 0) ? text : longest), null);
}

/** The message of an error body, in any of the fields that the service and its resellers use. */
function readErrorMessage(body: unknown): string | null {
  const error = readProperty(body, 'error');
  const [firstOfErrors] = Object.values(readProperty(body, 'errors') ?? {}).flat();
  return firstText([error, readProperty(error, 'message'), readProperty(body, 'message'), firstOfErrors]);
}

function readProperty(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
}

function firstText(candidates: readonly unknown[]): string | null {
  const texts = candidates.filter((candidate) => typeof candidate === 'string');
  return texts.find((text) => text.trim() !== '') ?? null;
}
