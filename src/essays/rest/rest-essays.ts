import { randomUUID } from 'node:crypto';
import type { Events } from '../../telemetry/events.ts';
import type { Redact } from '../../telemetry/redact.ts';
import { readRetryAfter } from '../../upstream/retry-after.ts';
import type { RestClient, RestOutcome } from '../../upstream/upstream-client.ts';
import { toUpstreamError } from '../../upstream/upstream-error.ts';
import type { Essay, EssayMode, EssayOrder, EssayResult, EssaysPort } from '../essays.ts';
import { composeDescription } from './description.ts';
import { readErrorMessage, readEssayText } from './wire-essay.ts';

interface RestEssaysOptions {
  client: RestClient;
  events: Events;
  /** How each mode is spelled on the wire. */
  modeSpellings: Readonly<Record<EssayMode, string>>;
  /** The field that holds the text, as a dotted path; null: the well-known names are tried. */
  textField?: string | null;
  /** Applied to the service's own words before a client sees them. */
  redact: Redact;
  now?: () => Date;
}

/** Asks the essay service over REST. One order is one call, and a call may have been charged whatever it answers. */
export function createRestEssays({
  client,
  events,
  modeSpellings,
  textField = null,
  redact,
  now = () => new Date(),
}: RestEssaysOptions): EssaysPort {
  return {
    async generate(order, caller) {
      const body = {
        description: composeDescription(order),
        mode: modeSpellings[order.mode],
        word_count: order.wordCount,
      };
      const outcome = await client.send({ method: 'POST', path: '/v2/generate/essay/', body }, caller);
      return readEssay(outcome, order) ?? readRefusal(outcome) ?? readFailure(outcome);
    },
    // The service keeps nothing.
    find: async () => null,
  };

  function readEssay(outcome: RestOutcome, { mode }: EssayOrder): Essay | null {
    if (!isSuccess(outcome)) return null;
    const text = readEssayText(outcome.json, textField);
    return text === null ? null : { kind: 'essay', id: randomUUID(), text, wordCount: countWords(text), mode };
  }

  function readRefusal(outcome: RestOutcome): EssayResult | null {
    if (outcome.kind !== 'answer') return null;
    if (outcome.status === 400 || outcome.status === 422) {
      const words = readErrorMessage(outcome.json) ?? 'The essay service refused the input and did not say why.';
      return { kind: 'invalid-input', message: redact(words).slice(0, 500), field: null };
    }
    if (outcome.status === 429) {
      const { message } = toUpstreamError('essays', outcome, events);
      return { kind: 'allowance-exhausted', message, renewsAt: readRetryAfter(outcome.headers['retry-after'], now()) };
    }
    return null;
  }

  function readFailure(outcome: RestOutcome): EssayResult {
    const paid = outcome.kind === 'failure' || isSuccess(outcome) ? outcome.text : '';
    const rawText = paid.trim() === '' ? null : paid;
    const { message, code, retryable } = toUpstreamError('essays', outcome, events);
    return { kind: 'service-failed', message, code, retryable, rawText };
  }
}

function isSuccess(outcome: RestOutcome): outcome is Extract<RestOutcome, { kind: 'answer' }> {
  return outcome.kind === 'answer' && outcome.status >= 200 && outcome.status < 300;
}

function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}
