import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { EssayResult } from '../../../../src/gateway/essays/port.ts';
import type { DeclaredFields } from '../../../../src/gateway/essays/rest/read-essay.ts';
import { createRestEssays } from '../../../../src/gateway/essays/rest/rest-essays.ts';
import type { Answered, Outcome } from '../../../../src/gateway/upstream/outcome.ts';
import { tRequestContext } from '../../../support/gateway/callers.ts';
import { modeNames, order, sendOrder } from '../../../support/gateway/essays/generator.ts';
import { received, type TSentOrder, tOrders } from '../../../support/gateway/upstream/send.ts';

const date = new Date('2026-12-01T00:00:00Z');
const later = new Date('2026-12-01T00:00:01Z');

interface TOptions {
  isSelfHosted?: boolean;
  declared?: DeclaredFields;
}

function tRestEssays(outcome: Outcome, options: TOptions = {}) {
  const requests: TSentOrder[] = [];
  const fired: string[] = [];
  const essays = createRestEssays({
    keepMs: 86_400_000,
    declared: { texts: null, error: null },
    ...options,
    client: tOrders(outcome, { onSend: (request) => void requests.push(request) }),
    modeNames,
    redact: (text) => text.replaceAll('secret', '[hidden]'),
    events: {
      credentialsRejected: () => fired.push('credentials rejected'),
      callRefused: () => fired.push('refused'),
      requestRejected: (_, status) => fired.push(`rejected ${status}`),
      responseUnreadable: (_, status) => fired.push(`unreadable ${status}`),
    },
  });
  const send = (...args: Parameters<typeof essays.reserve>) => sendOrder(essays, ...args);
  return { ...essays, send, requests, fired };
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
    { kind: 'blocked', cause: 'allowance', retryAt: date },
    { ...blocked(`; the gateway waits until ${date.toISOString()} at most.`), renewsAt: date },
  ],
  [
    'that the gateway probes a service that has asked not to be called for long',
    { kind: 'blocked', cause: 'allowance', retryAt: later },
    {
      ...blocked(`; the gateway waits until ${later.toISOString()} at most, and probes it with one call a minute.`),
      renewsAt: later,
    },
  ],
  [
    'that a call was rejected with 429',
    received(429, '{}'),
    { ...blocked(', without saying until when.'), renewsAt: null },
    ['refused'],
  ],
  ['a request that was not sent as retryable', { kind: 'shed' }, failedWith('UNAVAILABLE', unpaid)],
  ['a failure without raw text for a 5xx response', received(500, usage), failedWith('FAILED', unpaid)],
  ['rejected input', received(422, '{"message":"secret"}'), { kind: 'invalid-input', message: '[hidden]' }],
  ['the text of a 2xx response', received(200, usage), failedWith('FAILED', { rawText: usage }), ['unreadable 200']],
])('returns %s, after one call', async (_, outcome, result, events = []) => {
  const { reserve, requests, fired } = tRestEssays(outcome);
  const step = await reserve(order, tRequestContext());
  expect(step.kind === 'slot').toBe(outcome.kind === 'answered');
  expect(requests).toHaveLength(0);
  expect(step.kind === 'slot' ? await step.send() : step).toMatchObject(result);
  expect(requests).toHaveLength(outcome.kind === 'answered' ? 1 : 0);
  expect(fired).toEqual(events);
});

it.each([
  [{ isSelfHosted: true }, 'drafter', 'DRAFTER'],
  [{ isSelfHosted: true }, 'model', 'MODEL'],
  [{ isSelfHosted: false }, 'drafter', 'SERVICE'],
  [{ isSelfHosted: false }, 'model', 'SERVICE'],
  [{}, 'model', 'SERVICE'],
])('with %j, the writer that is reported as %s is %s', async (options, writer, expected) => {
  const body = JSON.stringify({ essay: `${order.description}. They write. `.repeat(8), writer });
  const { send } = tRestEssays(received(200, body), options);
  expect(await send(order, tRequestContext())).toMatchObject({ kind: 'essay', writer: expected });
});

/** The code of a failure, the message of a rejection, or the kind of any other result. */
function nameOf(result: EssayResult): string {
  if (result.kind === 'service-failed') return result.code;
  return result.kind === 'invalid-input' ? result.message : result.kind;
}

it.each<[number[], unknown, string, string]>([
  [[200, 202, 400, 401, 403, 500, 503], { message: 'Monthly quota exceeded.' }, 'allowance-exhausted', 'refused'],
  [[200, 403, 429], { error: { code: 'insufficient_quota' } }, 'allowance-exhausted', 'refused'],
  [[200, 402], { text: 'You have no credits left.' }, 'allowance-exhausted', 'refused'],
  [[202], { message: 'You have used your 100 requests of this month' }, 'allowance-exhausted', 'refused'],
  [[200], { result: 'Limit of 100 free requests per month used.' }, 'allowance-exhausted', 'refused'],
  [[200, 400, 401, 500], { detail: 'Not authenticated.' }, 'UPSTREAM_REJECTED_CREDENTIALS', 'credentials rejected'],
  [[200], { essay: 'Invalid API key.' }, 'UPSTREAM_REJECTED_CREDENTIALS', 'credentials rejected'],
  [[200], { data: 'Your key has been deactivated.' }, 'UPSTREAM_REJECTED_CREDENTIALS', 'credentials rejected'],
])('with the statuses %j, %j is %s', async (statuses, body, name, event) => {
  for (const status of statuses) {
    const { send, fired } = tRestEssays(received(status, JSON.stringify(body)));
    const result = await send(order, tRequestContext());
    expect([status, nameOf(result), fired]).toEqual([status, name, [event]]);
    expect(result).not.toMatchObject({ retryable: true });
  }
});

it.each<[number, unknown, string]>([
  [400, { error: 'Invalid request body.' }, 'Invalid request body.'],
  [400, { detail: 'word_count must be an integer.' }, 'word_count must be an integer.'],
  [422, { detail: [{ loc: ['body', 'word_count'], msg: 'value is not valid', type: 'x' }] }, 'value is not valid'],
  [400, { errors: { mode: ['mode is unknown.'] } }, 'mode is unknown.'],
  [400, { errors: [{ code: 'max', message: 'Too long.' }] }, 'Too long.'],
  [400, { statusCode: 400, message: ['Too long.'], error: 'Bad Request' }, 'Too long.'],
  [400, { type: 'about:blank', title: 'Bad Request', status: 400, detail: 'Too long.' }, 'Too long.'],
  [400, { msg: 'Too long.', code: 7 }, 'Too long.'],
  [413, { message: 'Too long.' }, 'Too long.'],
  [400, 'The description is too long.', 'The description is too long.'],
  [400, '<html><body><h1>Bad</h1><p>Too long.</p></body></html>', 'Bad\n\nToo long.'],
  [400, { message: `${'x'.repeat(490)} secret secret` }, `${'x'.repeat(490)} [hidden] `],
  [422, {}, 'The essay service rejected the input and did not give a reason.'],
  [400, { status: 'x', code: 7 }, 'The essay service rejected the input and did not give a reason.'],
])('the reason of status %i %j is %s', async (status, body, reason) => {
  const { send } = tRestEssays(received(status, typeof body === 'string' ? body : JSON.stringify(body)));
  expect(await send(order, tRequestContext())).toEqual({
    kind: 'invalid-input',
    message: reason,
    problems: [],
  });
});

describe('a 2xx response without an essay', () => {
  it.each([
    [200, JSON.stringify({ task: 'a81f', status: 'queued' })],
    [202, '{"id":"x"}'],
    [200, 'Their secret: practice. Authorization: Bearer eyJhbGciOi.eyJzdWIi.c2ln, see /srv/app/main.py'],
    [200, `${JSON.stringify({ note: 'Your quota is exceeded.', a: 'x y. '.repeat(500) })}`],
  ])('is kept as it was received, and not sent again: %i %s', async (status, text) => {
    const { send, fired } = tRestEssays(received(status, text));
    expect(await send(order, tRequestContext())).toEqual({
      kind: 'service-failed',
      message: 'The essay service returned a response that could not be read.',
      code: 'UPSTREAM_FAILED',
      retryable: false,
      rawText: text,
      outcome: 'unreadable',
    });
    expect(fired).toEqual([`unreadable ${status}`]);
  });

  it('may be empty', async () => {
    const { send } = tRestEssays(received(204, ''));
    const result = await send(order, tRequestContext());
    expect(result).toMatchObject({ retryable: false, rawText: null, outcome: 'unreadable' });
  });
});

it('believes the declared fields', async () => {
  const declared = { texts: ['a.b'], error: 'failed' };
  for (const [body, expected] of [
    [
      { a: { b: 'Access denied.' }, status: 'failed' },
      { kind: 'essay', text: 'Access denied.', wordCount: 2 },
    ],
    [
      { a: { b: 'Access granted.' }, failed: 'yes' },
      { kind: 'service-failed', outcome: 'unreadable' },
    ],
    [{ essay: `${order.description} `.repeat(50) }, { kind: 'service-failed', outcome: 'unreadable' }],
  ]) {
    const { send } = tRestEssays(received(200, JSON.stringify(body)), { declared });
    expect(await send(order, tRequestContext())).toMatchObject(expected ?? {});
  }
});

it('the text that was sent is not an essay, in the form of the client or of the request', async () => {
  const long = {
    ...order,
    description: 'Fountain pens: the reservoir that holds the ink, and the nib',
    titles: ['The Pen'],
  };
  const { send, requests } = tRestEssays(received(200, '{}'));
  await send(long, tRequestContext());
  const { description: sent } = (requests[0]?.body ?? {}) as { description: string };
  expect(sent).toContain('Title options: The Pen.');
  for (const text of [sent, long.description, `You asked for this essay: ${long.description}`]) {
    const { send } = tRestEssays(received(200, JSON.stringify({ text })));
    expect(await send(long, tRequestContext())).toMatchObject({ kind: 'service-failed' });
  }
});

it('a short essay, or one that repeats its order, is one if the service is self-hosted', async () => {
  for (const text of ['Pens.', order.description, 'Access denied: please try again later.']) {
    for (const isSelfHosted of [true, false]) {
      const { send } = tRestEssays(received(200, JSON.stringify({ essay: text })), { isSelfHosted });
      const result = await send(order, tRequestContext());
      expect(result.kind === 'essay').toBe(isSelfHosted);
    }
  }
});

it('accepts lines with text from the self-hosted service only', async () => {
  for (const isSelfHosted of [true, false]) {
    const { send, requests } = tRestEssays(received(200, '{"essay":"Pens hold ink. They write."}'), {
      isSelfHosted,
    });
    const onText = vi.fn();
    await send(order, tRequestContext(), onText);
    const [request] = requests;
    expect(Object.keys(request ?? {})).not.toContain('onText');
    expect(request?.lines === null).toBe(!isSelfHosted);
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
    const outcome: Answered = { ...received(200, '{"error":"x"}'), text: 'Pens hold' };
    const { send } = tRestEssays(outcome, { isSelfHosted });
    const result = await send(order, tRequestContext());
    const kept = isSelfHosted ? { retryable: true } : { retryable: false, outcome: 'unreadable' };
    expect(result).toEqual({ ...failedWith('FAILED', { ...kept, rawText: 'Pens hold' }), message });
  },
);
