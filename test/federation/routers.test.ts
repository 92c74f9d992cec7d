import { describe, expect, it, onTestFinished } from 'vitest';
import {
  replyWithBank,
  routers,
  type StartRouter,
  startApolloGatewayAccepting,
  tSupergraph,
} from '../support/federation/supergraph.ts';
import { replyFailingFor, replyJson } from '../support/scripted-upstream.ts';

/* Real routers in front of the payments subgraph and the gateway, over real ports. */

const query = '{ payees { name validation { valid problems bankData { name } } } }';
const commerzbank = { valid: true, problems: [], bankData: { name: 'Bank 37040044' } };

async function tRouter(start: StartRouter, sdl: string) {
  const router = await start(sdl);
  onTestFinished(router.close);
  return router;
}

const graphql = 'application/graphql-response+json';
const accepting = [`@apollo/gateway that accepts ${graphql}`, startApolloGatewayAccepting(graphql)] as const;

describe.each([...routers, accepting])('%s', (name, start) => {
  it('joins payees with their banks, with one call for each possible IBAN', async () => {
    const { sdl, upstream } = await tSupergraph();
    const { ask } = await tRouter(start, sdl);
    expect(await ask(query)).toEqual({
      data: {
        payees: [
          { name: 'Alster Stationers', validation: commerzbank },
          { name: 'Alster Stationers, repairs', validation: commerzbank },
          { name: 'Bergmann Bikes', validation: { ...commerzbank, bankData: { name: 'Bank 50010517' } } },
          { name: 'Canal Books', validation: { ...commerzbank, bankData: { name: 'Bank ABNA0417' } } },
          { name: 'Dover Tea', validation: { valid: false, problems: ['WRONG_CHECK_DIGITS'], bankData: null } },
        ],
      },
    });
    const ibans = upstream.calls.map((call) => call.query.get('iban_number'));
    expect(ibans.toSorted()).toEqual(['DE44500105175407324931', 'DE89370400440532013000', 'NL91ABNA0417164300']);
  });

  it('gets all fields that need no service, without a call, while it fails and its allowance is exhausted', async () => {
    const { sdl, upstream } = await tSupergraph(replyJson(500, {}), { BANK_DATA_MONTHLY_ALLOWANCE: '1' });
    const { ask } = await tRouter(start, sdl);
    await ask('{ ibanValidation(iban: "NL91ABNA0417164300") { valid } }');
    expect(upstream.calls).toHaveLength(1);
    const local = 'country { name } nationalCheck suggestions format { isWellFormed printFormat masked }';
    const { data, errors } = await ask(`{ payees { id validation { ${local} } }
      ibanValidation(iban: "DE89370400440532013000") { ${local} } }`);
    expect(errors).toBeUndefined();
    const printFormat = 'DE89 3704 0044 0532 0130 00';
    const format = { isWellFormed: true, printFormat, masked: 'DE89 **** **** **** **30 00' };
    const german = { country: { name: 'Germany' }, nationalCheck: 'NOT_APPLICABLE', suggestions: [], format };
    expect(data?.ibanValidation).toEqual(german);
    expect(data?.payees).toHaveLength(5);
    expect((data?.payees as object[] | undefined)?.[0]).toEqual({ id: '1', validation: german });
    expect(upstream.calls).toHaveLength(1);
  });

  it('nulls only the field of the payee whose look-up fails, with its code', async () => {
    const { sdl, statuses } = await tSupergraph(replyFailingFor('DE44500105175407324931', replyWithBank));
    const { ask } = await tRouter(start, sdl);
    const { data, errors = [] } = await ask('{ payees { id validation { valid } } }');
    expect(data?.payees).toEqual([
      { id: '1', validation: { valid: true } },
      { id: '2', validation: { valid: true } },
      { id: '3', validation: { valid: null } },
      { id: '4', validation: { valid: true } },
      { id: '5', validation: { valid: false } },
    ]);
    expect(errors).toHaveLength(1);
    expect(errors[0]?.extensions).toMatchObject({ code: 'UPSTREAM_FAILED', service: 'bank-data' });
    expect(JSON.stringify(errors)).not.toContain('DE44500105175407324931');
    // Hive Gateway has the index of the first payee in the path of an error below an entity.
    expect(errors[0]?.path?.at(-1)).toBe('valid');
    // "Partial success", of GraphQL over HTTP, September 2026.
    await expect.poll(statuses).toEqual([name === '@apollo/gateway' ? 200 : 294]);
  });
});
