import { describe, expect, it, vi } from 'vitest';
import { tScriptedGateway } from '../../support/gateway.ts';
import { ibanOfBank } from '../../support/ibans.ts';
import { replyJson } from '../../support/scripted-upstream.ts';

const german = 'DE89370400440532013000';

const matching = 'query ($iban: String!, $bic: String!) { ibanValidation(iban: $iban) { bicMatch(bic: $bic) bics } }';

describe('bicMatch', () => {
  it.each([
    ['its bank', german, 'COBADEFF', 'SAME_BANK'],
    ['a branch of its bank, as it is typed', german, ' coba de ff 370 ', 'SAME_BANK'],
    ['its bank in another location', german, 'COBADEHH', 'UNKNOWN'],
    ['its bank in another country', german, 'COBAFRPP', 'UNKNOWN'],
    ['another bank', german, 'DEUTDEFF', 'OTHER_BANK'],
    ['another bank, abroad', german, 'BNPAFRPP', 'OTHER_BANK'],
    ['a BIC that is not valid', german, 'COBADEF', 'UNKNOWN'],
    ['no BIC', german, '', 'UNKNOWN'],
    ['an IBAN that cannot be parsed', 'DE', 'COBADEFF', 'UNKNOWN'],
    ['a country without a list', 'MT84MALT011000012345MTLCAST001S', 'MALTMTMT', 'UNKNOWN'],
  ])('(%s) is found out without an upstream call', async (_, iban, bic, expected) => {
    const { ask, upstream } = await tScriptedGateway(replyJson(500, {}));
    const { data, errors } = await ask(matching, { iban, bic });
    expect(errors).toBeUndefined();
    expect(data?.ibanValidation?.bicMatch).toBe(expected);
    expect(upstream.calls).toHaveLength(0);
  });

  it('never makes an IBAN invalid', async () => {
    const { ask } = await tScriptedGateway(replyJson(200, { valid: true }));
    const { data } = await ask(`{ ibanValidation(iban: "${german}") { valid problems bicMatch(bic: "DEUTDEFF") } }`);
    expect(data?.ibanValidation).toEqual({ valid: true, problems: [], bicMatch: 'OTHER_BANK' });
  });

  it('knows the BIC of the service, if it was looked up', async () => {
    const iban = 'MT84MALT011000012345MTLCAST001S';
    const { ask, upstream } = await tScriptedGateway(
      replyJson(200, { valid: true, bank_data: { bic: 'MALTMTMTXXX' } }),
    );
    const bics = 'same: bicMatch(bic: "MALTMTMT") other: bicMatch(bic: "VALLMTMT") bics';
    const local = await ask(`{ ibanValidation(iban: "${iban}") { ${bics} } }`);
    expect(local.data?.ibanValidation).toEqual({ same: 'UNKNOWN', other: 'UNKNOWN', bics: [] });
    expect(upstream.calls).toHaveLength(0);
    const lookedUp = await ask(`{ ibanValidation(iban: "${iban}") { valid ${bics} } }`);
    const expected = { valid: true, same: 'SAME_BANK', other: 'OTHER_BANK', bics: ['MALTMTMTXXX'] };
    expect(lookedUp.data?.ibanValidation).toEqual(expected);
  });

  it('uses the lists alone while the service fails', async () => {
    const { ask } = await tScriptedGateway(replyJson(500, {}));
    const { data, errors } = await ask(
      `{ ibanValidation(iban: "${german}") { valid bicMatch(bic: "COBADEFF") bics } }`,
    );
    expect(data?.ibanValidation).toEqual({ valid: null, bicMatch: 'SAME_BANK', bics: ['COBADEFFXXX'] });
    expect(errors?.map(({ path }) => path?.join('.'))).toEqual(['ibanValidation.valid']);
  });

  it('is fresh for a minute at most, as an import may replace the lists', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { graphql } = await tScriptedGateway();
    for (const field of ['bics', 'bicMatch(bic: "COBADEFF")']) {
      const query = encodeURIComponent(`{ ibanValidation(iban: "${german}") { ${field} } }`);
      const response = await graphql.fetch(`http://gateway/graphql?query=${query}`, {});
      expect(response.headers.get('cache-control')).toBe('private, max-age=60');
    }
  });
});

describe('bics', () => {
  it('has each BIC once, first that of the service, then of the present list', async () => {
    const { ask } = await tScriptedGateway(replyJson(200, { valid: true, bank_data: { bic: 'KREDBEBBXXX' } }));
    const iban = ibanOfBank('BE', '640');
    const { data } = await ask('query ($iban: String!) { ibanValidation(iban: $iban) { valid bics } }', { iban });
    expect(data?.ibanValidation?.bics).toEqual(['KREDBEBBXXX', 'ADIABE22']);
    const local = await ask('query ($iban: String!) { ibanValidation(iban: $iban) { bics } }', { iban });
    expect(local.data?.ibanValidation?.bics).toEqual(['KREDBEBB', 'ADIABE22']);
  });
});
