import { describe, expect, it } from 'vitest';
import { tScriptedGateway } from '../../support/gateway.ts';
import { replyJson } from '../../support/scripted-upstream.ts';

const query = '{ allowances { service used limit remaining renewsAt } }';
const look = '{ ibanValidation(iban: "DE89370400440532013000") { valid } }';
const lookAgain = '{ ibanValidation(iban: "GB29NWBK60161331926819") { valid } }';

describe('allowances', () => {
  it('report the number of calls without making one', async () => {
    const { ask, upstream } = await tScriptedGateway(replyJson(200, { valid: true }), {
      BANK_DATA_MONTHLY_ALLOWANCE: '10',
    });
    await ask(look);
    await ask(look);
    const { data } = await ask(query);
    const renewsAt = expect.stringMatching(/^\d{4}-\d\d-01T00:00:00\.000Z$/);
    expect(data?.allowances).toEqual([
      { service: 'BANK_DATA', used: 1, limit: 10, remaining: 9, renewsAt },
      { service: 'ESSAYS', used: 0, limit: null, remaining: null, renewsAt },
    ]);
    expect(upstream.calls).toHaveLength(1);
  });

  it('are enforced: at the limit no call is made, the error has the renewal date, and cached IBANs are still answered', async () => {
    const { ask, upstream } = await tScriptedGateway(replyJson(200, { valid: true }), {
      BANK_DATA_MONTHLY_ALLOWANCE: '1',
    });
    await ask(look);
    const { data, errors } = await ask(lookAgain);
    expect(data).toEqual({ ibanValidation: { valid: null } });
    expect(errors).toMatchObject([
      {
        message: expect.stringMatching(/exhausted; it renews at \d{4}-\d\d-01T00:00:00\.000Z\.$/),
        extensions: { code: 'UPSTREAM_ALLOWANCE_EXHAUSTED', service: 'bank-data' },
      },
    ]);
    expect((await ask(look)).data).toEqual({ ibanValidation: { valid: true } });
    expect(upstream.calls).toHaveLength(1);
  });
});

describe('an idempotency key', () => {
  const order = (input: string) => `mutation { generateEssay(input: { wordCount: 9, ${input} }) {
    __typename ... on Essay { id text } ... on InvalidEssayInput { fields { name } message } } }`;

  it('returns the same essay for the same order, and rejects a different order', async () => {
    const { ask, upstream } = await tScriptedGateway(replyJson(200, { essay: 'Pens.' }));
    const first = await ask(order('description: "Pens", idempotencyKey: "k"'));
    expect(await ask(order('description: "Pens", idempotencyKey: "k"'))).toEqual(first);
    const other = await ask(order('description: "Inks", idempotencyKey: "k"'));
    expect(other.data?.generateEssay).toMatchObject({
      __typename: 'InvalidEssayInput',
      fields: [{ name: 'idempotencyKey' }],
    });
    const { data } = await ask('query ($id: ID!) { essay(id: $id) { text } }', { id: first.data?.generateEssay?.id });
    expect(data).toEqual({ essay: { text: 'Pens.' } });
    expect((await ask('{ essay(id: "no-such-id") { text } }')).data).toEqual({ essay: null });
    expect(upstream.calls).toHaveLength(1);
  });
});
