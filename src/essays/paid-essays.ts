import type { Config } from '../config/read-config.ts';
import type { OpenedStore } from '../stores/open-store.ts';
import type { Events } from '../telemetry/events.ts';
import type { Redact } from '../telemetry/redact.ts';
import type { UpstreamClient } from '../upstream/upstream-client.ts';
import { type EssayFieldProblem, type EssayGenerator, type EssayOrder, essayLimits } from './essays.ts';
import { withIdempotency } from './orders/idempotency.ts';
import { createRestEssays } from './rest/rest-essays.ts';

interface PaidEssaysOptions extends Pick<OpenedStore, 'store' | 'isShared' | 'onRecovered'> {
  client: UpstreamClient;
  config: Pick<Config, 'essays'>;
  redact: Redact;
  events: Events;
}

/** The essay service behind its precheck and the archive of essays. */
export function createPaidEssays({ client, config, redact, events, ...openedStore }: PaidEssaysOptions) {
  const { upstream, modeNames, textField, keepDays } = config.essays;
  const isSelfHosted = upstream === null;
  const restEssays = createRestEssays({ client, modeNames, textField, isSelfHosted, redact, events });
  const { generate, ...essays } = withIdempotency(restEssays, { ...openedStore, keepDays, events });
  return { ...essays, ...withOrderPrecheck({ generate }, events) };
}

/** Rejects orders that the service or the gateway does not accept, so that they never cost a paid call. */
export function withOrderPrecheck(generator: EssayGenerator, events: Pick<Events, 'essayOrdered'>): EssayGenerator {
  return {
    async generate(order, context) {
      const problems = findOrderProblems(order);
      if (problems.length === 0) return generator.generate(order, context);
      events.essayOrdered('rejected');
      const fields = new Set(problems.map(({ field }) => field));
      const [field = null] = fields.size === 1 ? fields : [];
      return { kind: 'invalid-input', field, message: problems.map(({ message }) => message).join(' '), problems };
    },
  };
}

function findOrderProblems({ description, wordCount, titles, idempotencyKey }: EssayOrder): EssayFieldProblem[] {
  const { description: maxDescription, wordCount: maxWords, titles: maxTitles, title: maxTitle } = essayLimits;
  const { idempotencyKey: maxKey } = essayLimits;
  const problems: EssayFieldProblem[] = [];
  const report = (
    field: EssayFieldProblem['field'],
    reason: EssayFieldProblem['reason'],
    range: EssayFieldProblem['range'],
    message: string,
  ) => problems.push({ field, reason, range, message });
  const upTo = (max: number) => ({ min: 1, max });

  if (description.length > maxDescription) {
    const message = `The description must have at most ${maxDescription} characters.`;
    report('description', 'TOO_LONG', upTo(maxDescription), message);
  } else if (description.trim() === '') {
    const message = 'The description must not be empty; describe the topic and the points to cover.';
    report('description', 'REQUIRED', upTo(maxDescription), message);
  }
  if (wordCount < 1 || wordCount > maxWords) {
    const message = `The number of words is ${wordCount}; it must be from 1 to ${maxWords}.`;
    report('wordCount', 'OUT_OF_RANGE', upTo(maxWords), message);
  }
  if (titles.length > maxTitles) {
    report('titles', 'TOO_MANY', { min: 0, max: maxTitles }, `There must be at most ${maxTitles} titles.`);
  }
  if (titles.some((title) => title.length > maxTitle)) {
    report('titles', 'TOO_LONG', upTo(maxTitle), `A title must have at most ${maxTitle} characters.`);
  }
  if (titles.some((title) => title.trim() === '')) {
    report('titles', 'REQUIRED', upTo(maxTitle), 'A title is empty; remove or replace it.');
  }
  if (idempotencyKey === '') {
    const message = 'The idempotency key is empty; omit it or choose a unique one, such as a UUID.';
    report('idempotencyKey', 'REQUIRED', upTo(maxKey), message);
  } else if (idempotencyKey !== null && idempotencyKey.length > maxKey) {
    report('idempotencyKey', 'TOO_LONG', upTo(maxKey), `The idempotency key must have at most ${maxKey} characters.`);
  }
  return problems;
}
