import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Answer, bankDataKey, essaysKey, tGateway } from './gateway.ts';
import {
  type Reply,
  replyJson,
  replyNever,
  replyReset,
  replyText,
  replyTruncated,
  tNowhere,
  tUpstream,
  type Upstream,
} from './scripted-upstream.ts';

/*
 * The failure table of the architecture, one test per cell: what the client is told, how many calls it cost, and that
 * neither key, nor address, nor the upstream's words leave through the answer or the log.
 */

const iban = 'DE89370400440532013000';
/** Stands in every failing body: it must not be found anywhere afterwards. */
const upstreamWords = 'upstream-words-that-stay-inside';
const html = `<html>${upstreamWords}</html>`;
const tooLarge = `{"essay":"${upstreamWords} ${'word '.repeat(1_000)}"}`;

const failing: Record<string, Reply> = {
  'not JSON': replyText(200, html, { 'content-type': 'text/html' }),
  truncated: replyTruncated(`{"valid":true,"essay":"${upstreamWords}`),
  'over the size bound': replyText(200, tooLarge, { 'content-type': 'application/json' }),
  reset: replyReset,
  ...Object.fromEntries(
    [400, 401, 403, 404, 422, 429, 500, 502, 503, 504].map((status) => [
      String(status),
      replyJson(status, { trace: upstreamWords }),
    ]),
  ),
};

afterEach(() => {
  vi.useRealTimers();
});

function expectNothingLeaked(upstream: Upstream, shown: unknown, log: string, { paid = false } = {}) {
  const everything = JSON.stringify(shown) + log;
  for (const secret of [bankDataKey, essaysKey, upstream.url, new URL(upstream.url).host]) {
    expect(everything).not.toContain(secret);
  }
  expect(log).not.toContain(upstreamWords);
  expect(log).not.toContain(iban);
  if (!paid) expect(JSON.stringify(shown)).not.toContain(upstreamWords);
}

describe('a bank-data read', () => {
  const query = `{ ibanValidation(iban: "${iban}") { valid problems } }`;

  function expectError(answer: Answer, code: string, retryable: boolean) {
    expect(answer).toEqual({
      data: { ibanValidation: null },
      errors: [
        {
          message: expect.stringMatching(/^The (allowance of the )?bank-data service .+\.$/),
          path: ['ibanValidation'],
          locations: [{ line: 1, column: 3 }],
          extensions: { code, service: 'bank-data', retryable, requestId: expect.stringMatching(/^[\w-]{36}$/) },
        },
      ],
    });
  }

  it('that is answered 200 and readable is the answer', async () => {
    const upstream = await tUpstream(replyJson(200, { valid: true }));
    const gateway = tGateway({ bankDataUrl: upstream.url });
    const answer = await gateway.ask(query);
    expect(answer).toEqual({ data: { ibanValidation: { valid: true, problems: [] } } });
    expect(upstream.calls).toHaveLength(1);
    expectNothingLeaked(upstream, answer, gateway.log());
  });

  it('that is answered 422 is data', async () => {
    const body = { message: upstreamWords, errors: { iban_number: [upstreamWords] } };
    const upstream = await tUpstream(replyJson(422, body));
    const gateway = tGateway({ bankDataUrl: upstream.url });
    const answer = await gateway.ask(query);
    expect(answer).toEqual({ data: { ibanValidation: { valid: false, problems: ['REJECTED_BY_SERVICE'] } } });
    expect(upstream.calls).toHaveLength(1);
    expectNothingLeaked(upstream, answer, gateway.log());
  });

  it.each([
    ['not JSON', 'UPSTREAM_FAILED', true, 2],
    ['truncated', 'UPSTREAM_FAILED', true, 2],
    ['over the size bound', 'UPSTREAM_FAILED', true, 2],
    ['400', 'UPSTREAM_FAILED', false, 1],
    ['401', 'UPSTREAM_REJECTED_CREDENTIALS', false, 1],
    ['403', 'UPSTREAM_REJECTED_CREDENTIALS', false, 1],
    ['404', 'UPSTREAM_FAILED', false, 1],
    ['429', 'UPSTREAM_ALLOWANCE_EXHAUSTED', false, 1],
    ['500', 'UPSTREAM_FAILED', true, 3],
    ['502', 'UPSTREAM_FAILED', true, 3],
    ['503', 'UPSTREAM_FAILED', true, 3],
    ['504', 'UPSTREAM_FAILED', true, 3],
    ['reset', 'UPSTREAM_FAILED', true, 3],
  ])('that is answered %s is %s', async (how, code, retryable, calls) => {
    const upstream = await tUpstream(failing[how]);
    const gateway = tGateway({ bankDataUrl: upstream.url, env: { MAX_ANSWER_BYTES: '1024' } });
    const answer = await gateway.ask(query);
    expectError(answer, code, retryable);
    expect(upstream.calls).toHaveLength(calls);
    expectNothingLeaked(upstream, answer, gateway.log());
  });

  it('whose connection is refused is UPSTREAM_FAILED', async () => {
    const gateway = tGateway({ bankDataUrl: await tNowhere() });
    expectError(await gateway.ask(query), 'UPSTREAM_FAILED', true);
  });

  it('slower than the deadline is UPSTREAM_TIMED_OUT', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const upstream = await tUpstream(replyNever);
    const gateway = tGateway({ bankDataUrl: upstream.url, env: { BANK_DATA_TIMEOUT_MS: '10000' } });
    const asked = gateway.ask(query);
    const call = await upstream.nextCall();
    vi.advanceTimersByTime(10_000);
    const answer = await asked;
    expectError(answer, 'UPSTREAM_TIMED_OUT', true);
    await call.aborted;
    expect(upstream.calls).toHaveLength(1);
    expectNothingLeaked(upstream, answer, gateway.log());
  });

  it.each(['401', '403'])('that is answered %s is told to the operator at error level', async (how) => {
    const upstream = await tUpstream(failing[how]);
    const gateway = tGateway({ bankDataUrl: upstream.url });
    await gateway.ask(query);
    expect(gateway.log()).toMatch(/"level":50.*"service":"bank-data".*rejects our key/);
  });

  it('that is answered 400 is told to the operator: it is a fault of ours', async () => {
    const upstream = await tUpstream(failing['400']);
    const gateway = tGateway({ bankDataUrl: upstream.url });
    await gateway.ask(query);
    expect(gateway.log()).toMatch(/"level":50.*"status":400.*fault of the gateway/);
  });
});

describe('an order for an essay', () => {
  const query = `mutation { generateEssay(input: { description: "Fountain pens", wordCount: 100 }) {
    __typename
    ... on Essay { text }
    ... on Error { message }
    ... on InvalidEssayInput { field }
    ... on EssayAllowanceExhausted { renewsAt }
    ... on EssayServiceFailed { code retryable rawText }
  } }`;

  async function order(reply: Reply | undefined, calls = 1) {
    const upstream = await tUpstream(reply);
    const gateway = tGateway({ essaysUrl: upstream.url, env: { MAX_ANSWER_BYTES: '1024' } });
    const answer = await gateway.ask(query);
    expect(answer.errors).toBeUndefined();
    expect(upstream.calls).toHaveLength(calls);
    return { result: answer.data?.generateEssay, upstream, gateway };
  }

  it('that is answered 200 and readable is the essay', async () => {
    const { result, upstream, gateway } = await order(replyJson(200, { essay: 'On pens.' }));
    expect(result).toEqual({ __typename: 'Essay', text: 'On pens.' });
    expectNothingLeaked(upstream, result, gateway.log());
    expect(gateway.log()).not.toContain('On pens.');
  });

  it.each([
    ['not JSON', html],
    ['truncated', `{"valid":true,"essay":"${upstreamWords}`],
    ['over the size bound', tooLarge.slice(0, 1_024)],
  ])('that is answered 200 but %s has failed, and the raw text is kept', async (how, rawText) => {
    const { result, upstream, gateway } = await order(failing[how]);
    const message = expect.stringMatching(/^The essays service .+\.$/);
    expect(result).toEqual({
      __typename: 'EssayServiceFailed',
      code: 'UPSTREAM_FAILED',
      retryable: true,
      message,
      rawText,
    });
    expectNothingLeaked(upstream, result, gateway.log(), { paid: true });
  });

  it.each([400, 422])('that is answered %i is invalid input, in the words of the service', async (status) => {
    const error = `word_count is too small for ${essaysKey}.`;
    const { result, upstream, gateway } = await order(replyJson(status, { error, trace: upstreamWords }));
    const message = 'word_count is too small for [hidden].';
    expect(result).toEqual({ __typename: 'InvalidEssayInput', message, field: null });
    expectNothingLeaked(upstream, result, gateway.log());
  });

  it('that is answered 429 has met the end of the allowance', async () => {
    const renewal = { 'retry-after': 'Tue, 01 Dec 2026 00:00:00 GMT' };
    const { result, upstream, gateway } = await order(replyJson(429, { message: upstreamWords }, renewal));
    expect(result).toEqual({
      __typename: 'EssayAllowanceExhausted',
      message: 'The allowance of the essays service is used up; it renews at 2026-12-01T00:00:00.000Z.',
      renewsAt: '2026-12-01T00:00:00.000Z',
    });
    expectNothingLeaked(upstream, result, gateway.log());
  });

  it.each([
    ['401', 'UPSTREAM_REJECTED_CREDENTIALS', false],
    ['403', 'UPSTREAM_REJECTED_CREDENTIALS', false],
    ['404', 'UPSTREAM_FAILED', false],
    ['500', 'UPSTREAM_FAILED', true],
    ['502', 'UPSTREAM_FAILED', true],
    // Turned away, so surely not charged.
    ['503', 'UPSTREAM_FAILED', true, 2],
    ['504', 'UPSTREAM_FAILED', true],
    ['reset', 'UPSTREAM_FAILED', true],
  ])('that is answered %s has failed with %s', async (how, code, retryable, calls = 1) => {
    const { result, upstream, gateway } = await order(failing[how], calls);
    const message = expect.stringMatching(/^The essays service .+\.$/);
    expect(result).toEqual({ __typename: 'EssayServiceFailed', code, retryable, message, rawText: null });
    expectNothingLeaked(upstream, result, gateway.log());
  });

  it('whose connection is refused has failed', async () => {
    const gateway = tGateway({ essaysUrl: await tNowhere() });
    const { data } = await gateway.ask(query);
    expect(data?.generateEssay).toMatchObject({
      __typename: 'EssayServiceFailed',
      code: 'UPSTREAM_FAILED',
      retryable: true,
    });
  });

  it('slower than the deadline has failed and may be tried again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const upstream = await tUpstream(replyNever);
    const gateway = tGateway({ essaysUrl: upstream.url });
    const asked = gateway.ask(query);
    const call = await upstream.nextCall();
    vi.advanceTimersByTime(119_999);
    expect(upstream.calls).toHaveLength(1);
    vi.advanceTimersByTime(1);
    const { data } = await asked;
    expect(data?.generateEssay).toMatchObject({
      __typename: 'EssayServiceFailed',
      code: 'UPSTREAM_TIMED_OUT',
      retryable: true,
      rawText: null,
    });
    await call.aborted;
    expectNothingLeaked(upstream, data, gateway.log());
  });
});
