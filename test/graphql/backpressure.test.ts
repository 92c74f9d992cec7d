import { expect, it } from 'vitest';
import { tIban } from '../e2e/iban.ts';
import { tGateway } from '../gateway.ts';
import { replyJson, tUpstream } from '../scripted-upstream.ts';

it('starts a query with many look-ups when those of the one before have started, and single look-ups at once', async () => {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const upstream = await tUpstream(async (response, call) => {
    await opened;
    await replyJson(200, { valid: true })(response, call);
  });
  const { ask } = tGateway({ bankDataUrl: upstream.url, env: { UPSTREAM_CONCURRENCY: '1' } });
  const [first, second] = [0, 20].map((start) => Array.from({ length: 20 }, (_, index) => tIban(start + index)));
  const single = tIban(40);
  const askList = (ibans: unknown) =>
    ask('query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { iban valid } }', { ibans });

  const answers = [askList(first)];
  await upstream.nextCall();
  answers.push(
    askList(second),
    ask('query ($iban: String!) { ibanValidation(iban: $iban) { valid } }', { iban: single }),
  );
  // Queries that wait for nothing are answered after those before them have started.
  for (let count = 0; count < 3; count += 1) await ask('{ __typename }');
  open();

  const [one, two, three] = await Promise.all(answers);
  expect(one).toEqual({ data: { ibanValidations: first?.map((iban) => ({ iban, valid: true })) } });
  expect(two).toEqual({ data: { ibanValidations: second?.map((iban) => ({ iban, valid: true })) } });
  expect(three).toEqual({ data: { ibanValidation: { valid: true } } });
  const called = upstream.calls.map(({ query }) => query.get('iban_number'));
  expect(called.indexOf(single)).toBeLessThan(5);
  expect(called.filter((iban) => iban !== single)).toEqual([...(first ?? []), ...(second ?? [])]);
});
