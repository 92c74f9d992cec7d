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
  const problems: EssayFieldProblem[] = [];
  const report = (field: EssayFieldProblem['field'], message: string) => problems.push({ field, message });
  const reportTooLong = (field: EssayFieldProblem['field'], maxLength: number) =>
    report(field, `${field} must have at most ${maxLength} characters.`);

  if (description.length > essayLimits.description) reportTooLong('description', essayLimits.description);
  else if (description.trim() === '') {
    report('description', 'description must not be empty; describe the topic and the points to cover.');
  }
  if (wordCount < 1 || wordCount > essayLimits.wordCount) {
    report('wordCount', `wordCount is ${wordCount}; it must be from 1 to ${essayLimits.wordCount}.`);
  }
  if (titles.length > essayLimits.titles) report('titles', `titles must have at most ${essayLimits.titles} entries.`);
  if (titles.some((title) => title.length > essayLimits.title)) reportTooLong('titles', essayLimits.title);
  if (titles.some((title) => title.trim() === '')) {
    report('titles', 'titles must not contain an empty title; remove or replace it.');
  }
  if (idempotencyKey === '') {
    report('idempotencyKey', 'idempotencyKey is empty; omit it or choose a unique one, such as a UUID.');
  } else if (idempotencyKey !== null && idempotencyKey.length > essayLimits.idempotencyKey) {
    reportTooLong('idempotencyKey', essayLimits.idempotencyKey);
  }
  return problems;
}
