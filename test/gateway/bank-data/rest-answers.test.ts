import { describe, expect, it } from 'vitest';
import { tListeningGateway } from '../../support/gateway/http/listening-gateway.ts';
import { scrape } from '../../support/gateway/telemetry/scrape.ts';
import { tGateway } from '../../support/gateway.ts';
import { tIban } from '../../support/ibans.ts';
import { replyJson, tUpstream } from '../../support/scripted-upstream.ts';
import { seenIbanValidation } from '../../support/self-hosted.ts';

const mismatched = {
  message: 'The bank-data service returned the response to another request.',
  extensions: { code: 'UPSTREAM_FAILED', service: 'bank-data', retryable: true },
};
const unreadable = { ...mismatched, message: 'The bank-data service returned a response that could not be read.' };

describe('an answer about another IBAN', () => {
  const query = '{ ibanValidation(iban: "DE89370400440532013000") { valid bankData { name } } }';

  it.each([{ iban: 'GB29NWBK60161331926819' }, { iban: null, iban_data: { BBAN: 'NWBK60161331926819' } }])(
    'is not accepted, not cached, and reported to the operator: %j',
    async (named) => {
      const upstream = await tUpstream(replyJson(200, { ...seenIbanValidation, ...named }));
      const { ask, log } = tGateway({ bankDataUrl: upstream.url });
      expect(await ask(query)).toMatchObject({
        data: { ibanValidation: { valid: null, bankData: null } },
        errors: [mismatched, mismatched],
      });
      expect(log()).toContain('"failure":"mismatched"');
      expect(upstream.calls).toHaveLength(1);
      upstream.answers(replyJson(200, seenIbanValidation));
      expect(await ask(query)).toEqual({
        data: { ibanValidation: { valid: true, bankData: { name: 'Commerzbank' } } },
      });
      expect(upstream.calls).toHaveLength(2);
    },
  );

  it.each(['DE89 3704 0044 0532 0130 00', 'de89370400440532013000', '', null])(
    'is not one with the same IBAN, in whatever format, or with none: %j',
    async (iban) => {
      const upstream = await tUpstream(replyJson(200, { ...seenIbanValidation, iban }));
      const { ask } = tGateway({ bankDataUrl: upstream.url });
      expect((await ask(query)).data?.ibanValidation).toMatchObject({ valid: true });
    },
  );

  it('is not accepted as an IBAN that was generated for another country', async () => {
    const upstream = await tUpstream(replyJson(200, { valid: true, iban: 'GB29NWBK60161331926819' }));
    const { ask } = tGateway({ bankDataUrl: upstream.url });
    const answer =
      await ask(`{ generateIban(input: { country: "DE", bankCode: "37040044", accountNumber: "532013000" }) {
      __typename } }`);
    expect(answer.errors).toMatchObject([unreadable]);
  });
});

it('a complete account number is sent without the check digits that the service computes', async () => {
  const upstream = await tUpstream(replyJson(200, { valid: true, iban: 'BE68539007547034' }));
  const { ask } = tGateway({ bankDataUrl: upstream.url });
  const { data } =
    await ask(`{ generateIban(input: { country: "BE", bankCode: "539", accountNumber: "539-0075470-34" }) {
    ... on IbanValidation { iban nationalCheck } } }`);
  expect(data?.generateIban).toEqual({ iban: 'BE68539007547034', nationalCheck: 'PASSED' });
  const query = { country: 'BE', bank_code: '539', account_number: '0075470' };
  expect(upstream.calls.map((call) => Object.fromEntries(call.query))).toEqual([query]);
});

it.each([
  ['that replaces the account, to which the service would apply it again', '50050201', '2000', 'iban_validate', {}],
  ['that keeps the account', '37040044', '532013000', 'iban_generate', {}],
  ['that is not known', '99999999', '1', 'iban_generate', {}],
])('a generated IBAN is that of the gateway by a rule %s', async (_, bankCode, accountNumber, endpoint) => {
  const upstream = await tUpstream((response, call) => {
    const iban = call.query.get('iban_number') ?? 'DE89370400440532013000';
    return replyJson(200, { valid: true, iban })(response, call);
  });
  const { ask } = tGateway({ bankDataUrl: upstream.url });
  const { data, errors } = await ask(
    `query ($bankCode: String!, $accountNumber: String!) {
      generateIban(input: { country: "DE", bankCode: $bankCode, accountNumber: $accountNumber }) {
        ... on IbanValidation { iban ibanRule } } }`,
    { bankCode, accountNumber },
  );
  expect(upstream.calls.map(({ path }) => path)).toEqual([`/bank_data/${endpoint}`]);
  const ibans: Record<string, string> = { '50050201': 'DE42500502010000222000', '37040044': 'DE89370400440532013000' };
  const iban = ibans[bankCode];
  // The service answers with the IBAN of another account.
  if (iban === undefined) expect(errors).toMatchObject([unreadable]);
  else expect(data?.generateIban).toEqual({ iban, ibanRule: 'APPLIED' });
});

it.each([
  ['says that it did', { iban_rule: 'APPLIED' }, true],
  ['does not say so', {}, false],
])('a service may know a rule that the gateway does not, if it %s', async (_, fields, isAccepted) => {
  const iban = 'DE89370400440532013000';
  const upstream = await tUpstream(replyJson(200, { valid: true, iban, ...fields }));
  const { ask } = tGateway({ bankDataUrl: upstream.url });
  const { data, errors } = await ask(`{
    generateIban(input: { country: "DE", bankCode: "99999999", accountNumber: "1" }) {
      ... on IbanValidation { iban ibanRule } } }`);
  if (isAccepted) expect(data?.generateIban).toEqual({ iban, ibanRule: 'APPLIED' });
  else expect(errors).toMatchObject([unreadable]);
});

describe('an answer about another BIC', () => {
  const query = (bic: string) => `{ bicValidation(bic: "${bic}") { valid bankData { bic } } }`;

  it.each([
    ['COBADEFFXXX', 'DEUTDEFFXXX'],
    ['COBADEFF', 'COBADEFF123'],
    ['COBADEFF100', 'COBADEFF200'],
  ])('is not accepted: %s, answered with %s', async (bic, swift) => {
    const upstream = await tUpstream(replyJson(200, { valid: true, bank_data: { name: 'A bank', swift } }));
    const { ask } = tGateway({ bankDataUrl: upstream.url });
    expect((await ask(query(bic))).errors).toMatchObject([mismatched, mismatched]);
    expect((await ask(query(bic))).errors).toMatchObject([mismatched, mismatched]);
    expect(upstream.calls).toHaveLength(2);
  });

  it.each([
    ['COBADEFF', 'COBADEFFXXX'],
    ['COBADEFFXXX', 'cobadeff'],
    ['COBADEFF100', 'COBADEFFXXX'],
    ['COBADEFF', null],
  ])('is not one with the same bank: %s, answered with %j', async (bic, swift) => {
    const upstream = await tUpstream(replyJson(200, { valid: true, bank_data: { name: 'A bank', swift } }));
    const { ask } = tGateway({ bankDataUrl: upstream.url });
    expect((await ask(query(bic))).data?.bicValidation).toMatchObject({ valid: true, bankData: { bic: swift } });
  });
});

it.each([
  ['You have exceeded your daily/monthly API rate limit.', 'UPSTREAM_ALLOWANCE_EXHAUSTED', false],
  ['Invalid authentication credentials', 'UPSTREAM_REJECTED_CREDENTIALS', false],
  ['rate_limit_exceeded', 'UPSTREAM_ALLOWANCE_EXHAUSTED', false],
  ['TooManyRequests', 'UPSTREAM_ALLOWANCE_EXHAUSTED', false],
  ['Your free trial has ended.', 'UPSTREAM_ALLOWANCE_EXHAUSTED', false],
  ['invalid_api_key', 'UPSTREAM_REJECTED_CREDENTIALS', false],
  ['You are not subscribed to this API.', 'UPSTREAM_REJECTED_CREDENTIALS', false],
  ['Service temporarily unavailable', 'UPSTREAM_FAILED', true],
  ['Something else', 'UPSTREAM_FAILED', true],
])('a 200 without an answer is what it says: %s', async (message, code, retryable) => {
  // Also if it denies that the IBAN is valid, as some services do in every failure.
  for (const body of [{ message }, { error: { message } }, { valid: false, message: `${message} ` }, [{ message }]]) {
    if ('valid' in body && message === 'Something else') continue;
    const upstream = await tUpstream(replyJson(200, body));
    const { ask } = tGateway({ bankDataUrl: upstream.url });
    const { data, errors } = await ask('{ ibanValidation(iban: "DE89370400440532013000") { valid } }');
    expect(data).toEqual({ ibanValidation: { valid: null } });
    expect(errors).toMatchObject([{ extensions: { code, retryable } }]);
  }
});

it('a failure that denies that an IBAN is valid is not cached', async () => {
  const upstream = await tUpstream(replyJson(200, { valid: false, error: 'Internal server error' }));
  const { ask } = tGateway({ bankDataUrl: upstream.url });
  const query = '{ ibanValidation(iban: "DE89370400440532013000") { valid problems } }';
  const extensions = { code: 'UPSTREAM_FAILED', retryable: true };
  expect((await ask(query)).errors).toMatchObject([{ extensions }, { extensions }]);
  upstream.answers(replyJson(200, seenIbanValidation));
  expect(await ask(query)).toEqual({ data: { ibanValidation: { valid: true, problems: [] } } });
});

describe('a bank service whose answers cannot be read', () => {
  const garbage = { status: 'ok', data: [1, 2, 3] };

  async function lookUp(times: number, body: unknown) {
    const upstream = await tUpstream(replyJson(200, body));
    const { ask, log, metricsUrl } = await tListeningGateway({ METRICS_PORT: '0' }, upstream);
    const codes: unknown[] = [];
    for (let index = 0; index < times; index += 1) {
      const { errors } = await ask('query Q($iban: String!) { ibanValidation(iban: $iban) { bankData { name } } }', {
        iban: tIban(index),
      });
      codes.push(errors?.[0]?.extensions.code);
    }
    const metrics = await scrape(metricsUrl());
    const ended = (outcome: string) =>
      metrics.value('ledgerquill_upstream_operations_total', { service: 'bank-data', outcome });
    return { codes, upstream, metrics, ended, log: log() };
  }

  it('is called ten times, and then not before a probe', async () => {
    const { codes, upstream, metrics, ended, log } = await lookUp(40, garbage);
    expect(upstream.calls).toHaveLength(10);
    expect(codes.slice(0, 10)).toEqual(Array(10).fill('UPSTREAM_FAILED'));
    expect(codes.slice(10)).toEqual(Array(30).fill('UPSTREAM_UNAVAILABLE'));
    expect(['failed', 'shed', 'answered'].map(ended)).toEqual([10, 30, 0]);
    expect(metrics.value('ledgerquill_upstream_attempts_total', { service: 'bank-data', outcome: 'failed' })).toBe(10);
    expect(log).toContain('circuit breaker opened');
  });

  it.each([
    ['refused', { message: 'You have exceeded your monthly quota.' }, 'UPSTREAM_ALLOWANCE_EXHAUSTED'],
    ['rejected', { message: 'Invalid API key.' }, 'UPSTREAM_REJECTED_CREDENTIALS'],
  ])('is not one that says that the calls are %s', async (outcome, body, code) => {
    const { codes, ended } = await lookUp(3, body);
    expect(codes).toEqual(Array(3).fill(code));
    expect([outcome, 'failed', 'answered'].map(ended)).toEqual([3, 0, 0]);
  });
});
