import { describe, expect, it } from 'vitest';
import { tScriptedGateway } from '../../support/gateway.ts';
import { replyJson } from '../../support/scripted-upstream.ts';

const query = '{ allowances { service used limit remaining renewsAt } }';
const look = '{ ibanValidation(iban: "DE89370400440532013000") { valid } }';

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
});
