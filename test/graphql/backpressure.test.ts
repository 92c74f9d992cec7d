import { expect, it, vi } from 'vitest';
import { tIban } from '../support/e2e/iban.ts';
import { tGateway } from '../support/gateway.ts';
import { replyJson, tUpstream } from '../support/scripted-upstream.ts';

it('delays a query with many look-ups while those of four others wait, but no single look-up and no mutation', async () => {
  // However slow the machine is, the delay does not end.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const upstream = await tUpstream(async (response, call) => {
    await opened;
    await replyJson(200, { valid: true })(response, call);
  });
  const { ask } = tGateway({ bankDataUrl: upstream.url, env: { UPSTREAM_CONCURRENCY: '1' } });
  const lists = [0, 20, 40, 60, 80].map((start) => Array.from({ length: 20 }, (_, index) => tIban(start + index)));
  const single = tIban(100);
  const askList = (ibans: readonly string[] = []) =>
    ask('query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { iban valid } }', { ibans });

  const answers = lists.slice(0, 4).map(askList);
  await upstream.nextCall();
  // Queries that wait for nothing are answered after those before them have started.
  for (let count = 0; count < 3; count += 1) await ask('{ __typename }');
  answers.push(askList(lists[4]));
  const singleAnswer = ask('query ($iban: String!) { ibanValidation(iban: $iban) { valid } }', { iban: single });
  for (let count = 0; count < 3; count += 1) await ask('{ __typename }');
  expect(await ask('mutation { generateEssay(input: { description: "", wordCount: 9 }) { __typename } }')).toEqual({
    data: { generateEssay: { __typename: 'InvalidEssayInput' } },
  });
  open();

  expect(await singleAnswer).toEqual({ data: { ibanValidation: { valid: true } } });
  expect(await Promise.all(answers)).toEqual(
    lists.map((ibans) => ({ data: { ibanValidations: ibans.map((iban) => ({ iban, valid: true })) } })),
  );
  const called = upstream.calls.map(({ query }) => query.get('iban_number') ?? '');
  expect(called).toHaveLength(101);
  expect(called.indexOf(single)).toBeLessThan(10);
  expect(called.findIndex((iban) => lists[4]?.includes(iban))).toBeGreaterThan(60);
});

it('refuses a query that costs too much at once, although others are delayed', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const upstream = await tUpstream(() => new Promise(() => {}));
  const { ask } = tGateway({ bankDataUrl: upstream.url, env: { UPSTREAM_CONCURRENCY: '1', MAX_QUERY_COST: '3000' } });
  const askList = (start: number, count: number) =>
    ask('query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { iban valid } }', {
      ibans: Array.from({ length: count }, (_, index) => tIban(start + index)),
    });
  for (const start of [0, 20, 40, 60]) void askList(start, 20);
  await upstream.nextCall();
  for (let count = 0; count < 3; count += 1) await ask('{ __typename }');
  const { errors } = await askList(100, 1_000);
  expect(errors?.[0]?.message).toMatch(/^The query costs 13001; it may cost at most 3000\b/);
});
