import { expect, it } from 'vitest';
import { createRestEssays } from '../../../src/essays/rest/rest-essays.ts';
import type { Answered, Outcome, UpstreamRequest } from '../../../src/upstream/outcome.ts';
import { order } from '../../support/essays/generator.ts';
import { tRequestContext } from '../../support/request-context.ts';

const hooks = { maySend: async () => true, onSent: () => {} };

const modeNames = { STANDARD: 'Standard', ACADEMIC: 'Academic', PROFESSIONAL: 'Professional', NEWS_REPORT: 'News' };
const date = new Date('2026-12-01T00:00:00Z');

function answered(status: number, text = '', retryAt: Date | null = null): Answered {
  return { kind: 'answered', status, headers: {}, retryAt, text, json: text === '' ? undefined : JSON.parse(text) };
}

function tRestEssays(outcome: Outcome) {
  const requests: UpstreamRequest[] = [];
  const fired: string[] = [];
  const essays = createRestEssays({
    client: {
      async send(request) {
        requests.push(request);
        if (outcome.kind === 'answered' || outcome.kind === 'failed') request.onSent?.();
        return outcome;
      },
    },
    modeNames,
    redact: (text) => text.replaceAll('secret', '[hidden]'),
    events: {
      credentialsRejected: () => fired.push('credentials rejected'),
      requestRejected: (_, status) => fired.push(`rejected ${status}`),
      responseUnreadable: (_, status) => fired.push(`unreadable ${status}`),
    },
  });
  return { ...essays, requests, fired };
}

const exhausted = 'The allowance of the essay service is exhausted';
const renewing = {
  kind: 'allowance-exhausted',
  message: `${exhausted}; it renews at ${date.toISOString()}.`,
  renewsAt: date,
};
const failedWith = (code: string, more: object) => ({ kind: 'service-failed', code: `UPSTREAM_${code}`, ...more });
const unpaid = { retryable: true, rawText: null };
const truncated = { retryable: true, rawText: '{"essay":"Pens' };

it.each<[string, Outcome, object, string[]?]>([
  ['an allowance that renews at the date of the outcome', { kind: 'exhausted', renewsAt: date }, renewing],
  ['a 429 with Retry-After as an exhausted allowance', answered(429, '', date), renewing],
  [
    'a 429 without Retry-After as an exhausted allowance without a date',
    answered(429),
    { kind: 'allowance-exhausted', message: `${exhausted}.`, renewsAt: null },
  ],
  ['a request that was not sent as retryable', { kind: 'shed' }, failedWith('UNAVAILABLE', unpaid)],
  [
    'a truncated response with the part that was received',
    { kind: 'failed', reason: 'truncated', text: '{"essay":"Pens' },
    failedWith('FAILED', truncated),
  ],
  [
    'a timeout before the response without raw text',
    { kind: 'failed', reason: 'timed-out', text: '' },
    failedWith('TIMED_OUT', unpaid),
  ],
  [
    'a 2xx response without an essay with its raw text',
    answered(200, '{"usage":1}'),
    failedWith('FAILED', { rawText: '{"usage":1}' }),
    ['unreadable 200'],
  ],
  [
    'a 5xx response without raw text, since it was not paid for',
    answered(500, '{"error":"a trace"}'),
    failedWith('FAILED', unpaid),
  ],
  [
    'rejected credentials, and reports them',
    answered(401),
    failedWith('REJECTED_CREDENTIALS', { retryable: false, rawText: null }),
    ['credentials rejected'],
  ],
  [
    'rejected input with the redacted message of the service',
    answered(422, '{"message":"secret is not a mode."}'),
    { kind: 'invalid-input', message: '[hidden] is not a mode.', field: null, problems: [] },
  ],
])('returns %s, after one call', async (_, outcome, result, events = []) => {
  const { generate, requests, fired } = tRestEssays(outcome);
  expect(await generate(order, tRequestContext(), hooks)).toMatchObject(result);
  expect(requests).toHaveLength(1);
  expect(fired).toEqual(events);
});

it.each<[Outcome, number]>([
  [answered(200, '{"essay":"Pens hold ink."}'), 1],
  [{ kind: 'shed' }, 0],
  [{ kind: 'exhausted', renewsAt: date }, 0],
])('reports that an order was sent only if it was: %j', async (outcome, times) => {
  let sent = 0;
  const onSent = () => {
    sent += 1;
  };
  await tRestEssays(outcome).generate(order, tRequestContext(), { ...hooks, onSent });
  expect(sent).toBe(times);
});
