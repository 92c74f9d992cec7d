import { beforeEach, expect, it, vi } from 'vitest';
import { createRestEssays } from '../../../src/essays/rest/rest-essays.ts';
import type { Answered, Outcome, UpstreamRequest } from '../../../src/upstream/outcome.ts';
import { order } from '../../support/essays/generator.ts';
import { tRequestContext } from '../../support/request-context.ts';

const modeNames = {
  STANDARD: 'Standard',
  ACADEMIC: 'Academic',
  PROFESSIONAL: 'Professional',
  NEWS_REPORT: 'News',
  DETAILED: 'Detailed',
};
const date = new Date('2026-12-01T00:00:00Z');
const later = new Date('2026-12-01T00:00:01Z');

function answered(status: number, text: string): Answered {
  return { kind: 'answered', status, headers: {}, retryAt: null, text, json: JSON.parse(text) };
}

function tRestEssays(outcome: Outcome, options: { isSelfHosted?: boolean } = {}) {
  const requests: UpstreamRequest[] = [];
  const fired: string[] = [];
  const essays = createRestEssays({
    keepMs: 86_400_000,
    ...options,
    client: {
      async send(request) {
        requests.push(request);
        if (outcome.kind === 'answered' || outcome.kind === 'failed') request.beforeAttempt?.();
        return outcome;
      },
    },
    modeNames,
    redact: (text) => text.replaceAll('secret', '[hidden]'),
    events: {
      credentialsRejected: () => fired.push('credentials rejected'),
      callRefused: () => fired.push('refused'),
      requestRejected: (_, status) => fired.push(`rejected ${status}`),
      responseUnreadable: (_, status) => fired.push(`unreadable ${status}`),
    },
  });
  return { ...essays, requests, fired };
}

const renewing = {
  kind: 'allowance-exhausted',
  message: `The allowance of the essay service is exhausted; it renews at ${date.toISOString()}.`,
  code: 'UPSTREAM_ALLOWANCE_EXHAUSTED',
  renewsAt: date,
};
const blocked = (message: string) => ({
  kind: 'allowance-exhausted',
  message: `The essay service has asked not to be called${message}`,
  code: 'UPSTREAM_ALLOWANCE_EXHAUSTED',
});
const failedWith = (code: string, more: object) => ({ kind: 'service-failed', code: `UPSTREAM_${code}`, ...more });
const unpaid = { retryable: true, rawText: null };
const usage = '{"usage":1}';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: date.getTime() - 3_600_000 }));

/* The failure matrix has the results of all failed calls; these are those of an order that was not sent or has no essay. */
it.each<[string, Outcome, object, string[]?]>([
  ['an allowance that renews at the date of the outcome', { kind: 'exhausted', renewsAt: date }, renewing],
  [
    'that the service has asked not to be called',
    { kind: 'blocked', retryAt: date },
    { ...blocked(`; the gateway waits until ${date.toISOString()} at most.`), renewsAt: date },
  ],
  [
    'that the gateway probes a service that has asked not to be called for long',
    { kind: 'blocked', retryAt: later },
    {
      ...blocked(`; the gateway waits until ${later.toISOString()} at most, and probes it with one call an hour.`),
      renewsAt: later,
    },
  ],
  [
    'that a call was rejected with 429',
    answered(429, '{}'),
    { ...blocked(', without saying until when.'), renewsAt: null },
    ['refused'],
  ],
  ['a request that was not sent as retryable', { kind: 'shed' }, failedWith('UNAVAILABLE', unpaid)],
  ['a failure without raw text for a 5xx response', answered(500, usage), failedWith('FAILED', unpaid)],
  ['rejected input', answered(422, '{"message":"secret"}'), { kind: 'invalid-input', message: '[hidden]' }],
  ['the text of a 2xx response', answered(200, usage), failedWith('FAILED', { rawText: usage }), ['unreadable 200']],
])('returns %s, after one call', async (_, outcome, result, events = []) => {
  const { generate, requests, fired } = tRestEssays(outcome);
  const beforeAttempt = vi.fn();
  expect(await generate(order, tRequestContext(), { maySend: async () => true, beforeAttempt })).toMatchObject(result);
  expect(requests).toHaveLength(1);
  expect(beforeAttempt).toHaveBeenCalledTimes(outcome.kind === 'answered' ? 1 : 0);
  expect(fired).toEqual(events);
});

it.each([
  [{ isSelfHosted: true }, 'drafter', 'DRAFTER'],
  [{ isSelfHosted: true }, 'model', 'MODEL'],
  [{ isSelfHosted: false }, 'drafter', 'SERVICE'],
  [{ isSelfHosted: false }, 'model', 'SERVICE'],
  [{}, 'model', 'SERVICE'],
])('with %j, the writer that is reported as %s is %s', async (options, writer, expected) => {
  const body = JSON.stringify({ essay: 'Pens hold ink. They write. '.repeat(8), writer });
  const { generate } = tRestEssays(answered(200, body), options);
  const hooks = { maySend: async () => true, beforeAttempt: vi.fn() };
  expect(await generate(order, tRequestContext(), hooks)).toMatchObject({ kind: 'essay', writer: expected });
});

it.each([
  [{ message: 'Monthly quota exceeded.' }, 'ALLOWANCE_EXHAUSTED', ['refused']],
  [{ success: false, error: { code: 'rate_limit_exceeded' } }, 'ALLOWANCE_EXHAUSTED', ['refused']],
  [{ detail: 'Not authenticated.' }, 'REJECTED_CREDENTIALS', ['credentials rejected']],
  [{ essay: 'Invalid API key.' }, 'REJECTED_CREDENTIALS', ['credentials rejected']],
  [{ task: 'a81f', status: 'queued' }, 'FAILED', ['unreadable 200']],
])(
  'a response without an essay is the failure that it names, with what was received: %j',
  async (body, code, events) => {
    const { generate, fired } = tRestEssays(answered(200, JSON.stringify(body)));
    const result = await generate(order, tRequestContext(), { maySend: async () => true, beforeAttempt: vi.fn() });
    expect(result).toMatchObject(failedWith(code, { rawText: JSON.stringify(body), retryable: code === 'FAILED' }));
    expect(fired).toEqual(events);
  },
);

it('a short essay, or one that repeats its order, is one if the service is self-hosted', async () => {
  for (const text of ['Pens.', order.description, 'Access denied: please try again later.']) {
    for (const isSelfHosted of [true, false]) {
      const { generate } = tRestEssays(answered(200, JSON.stringify({ essay: text })), { isSelfHosted });
      const result = await generate(order, tRequestContext(), { maySend: async () => true, beforeAttempt: vi.fn() });
      expect(result).toMatchObject(isSelfHosted ? { kind: 'essay', text } : { kind: 'service-failed' });
    }
  }
});

it('accepts lines with text from the self-hosted service only', async () => {
  for (const isSelfHosted of [true, false]) {
    const { generate, requests } = tRestEssays(answered(200, '{"essay":"Pens hold ink. They write."}'), {
      isSelfHosted,
    });
    const onText = vi.fn();
    await generate(order, tRequestContext(), { maySend: async () => true, beforeAttempt: vi.fn(), onText });
    const [request] = requests;
    expect(Object.keys(request ?? {})).not.toContain('onText');
    expect(request?.lines === undefined).toBe(!isSelfHosted);
    expect(
      [{ text: 'Pens' }, { text: 1 }, { essay: 'Pens' }, null].map((line) => request?.lines?.readText(line)),
    ).toEqual(isSelfHosted ? ['Pens', null, null, null] : Array(4).fill(undefined));
    request?.lines?.onText?.('Pens');
    expect(onText).toHaveBeenCalledTimes(isSelfHosted ? 1 : 0);
  }
});

it.each([
  [true, 'The essay service failed.'],
  [false, 'The essay service returned a response that could not be read.'],
])(
  'reads a failure in the last line as status 500, if the service is self-hosted: %s',
  async (isSelfHosted, message) => {
    const outcome: Answered = { ...answered(200, '{"error":"x"}'), text: 'Pens hold' };
    const { generate } = tRestEssays(outcome, { isSelfHosted });
    const result = await generate(order, tRequestContext(), { maySend: async () => true, beforeAttempt: vi.fn() });
    expect(result).toEqual({ ...failedWith('FAILED', { retryable: true, rawText: 'Pens hold' }), message });
  },
);
