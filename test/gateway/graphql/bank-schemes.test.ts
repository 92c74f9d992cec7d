import { describe, expect, it, vi } from 'vitest';
import { importElsewhere, tParticipant, tRegisterFile, tReplaceRegister } from '../../support/banks/import/imports.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { tGateway } from '../../support/gateway.ts';
import { replyJson, tUpstream } from '../../support/scripted-upstream.ts';

const schemes = 'schemes { scheme takesPart since until registerDate }';
const accountBank = `{ ibanValidation(iban: "DE89370400440532013000") { bankData { bic ${schemes} } } }`;

/** A gateway whose bank-data service knows one bank. */
async function tBankGateway(bic: string | null, importsDir = tFolder()) {
  const upstream = await tUpstream(replyJson(200, { valid: true, bank_data: { name: 'Invented Bank', bic } }));
  return { importsDir, upstream, ...tGateway({ bankDataUrl: upstream.url, importsDir }) };
}

const none = { since: null, until: null };
const sctInst = { scheme: 'SCT_INST', takesPart: true, since: '2019-01-07', until: null, registerDate: '2026-11-20' };

describe('schemes', () => {
  it('has each imported register, for the bank of an account, without another call', async () => {
    const { ask, importsDir, upstream } = await tBankGateway('AAAADEFF123');
    await tReplaceRegister(importsDir, 'SCT_INST', { AAAADEFFXXX: [['2019-01-07', null]] });
    await tReplaceRegister(importsDir, 'VOP', { BBBBDEFFXXX: [[null, null]] }, '2026-11-25');
    const { data } = await ask(accountBank);
    expect(data?.ibanValidation?.bankData).toEqual({
      bic: 'AAAADEFF123',
      schemes: [sctInst, { scheme: 'VOP', takesPart: false, ...none, registerDate: '2026-11-25' }],
    });
    expect(upstream.calls).toHaveLength(1);
  });

  it.each([
    ['bank', `{ bank(bic: "AAAADEFF") { ${schemes} } }`],
    ['bicValidation', `{ bicValidation(bic: "AAAADEFF") { bankData { ${schemes} } } }`],
    [
      '_entities',
      `{ _entities(representations: [{ __typename: "BankData", id: "::AAAADEFFXXX" }]) { ... on BankData { ${schemes} } } }`,
    ],
  ])('is a field of the bank in %s', async (_, query) => {
    const { ask, importsDir } = await tBankGateway('AAAADEFFXXX');
    await tReplaceRegister(importsDir, 'SCT_INST', { AAAADEFFXXX: [['2019-01-07', null]] });
    const { data, errors } = await ask(query);
    expect(errors).toBeUndefined();
    expect(JSON.stringify(data)).toContain(JSON.stringify({ schemes: [sctInst] }));
  });

  it('is null if no register was imported, and of a bank without a BIC', async () => {
    const withBic = await tBankGateway('AAAADEFFXXX');
    expect((await withBic.ask(accountBank)).data?.ibanValidation?.bankData?.schemes).toBeNull();
    const { ask, importsDir } = await tBankGateway(null);
    await tReplaceRegister(importsDir, 'SCT', {});
    expect((await ask(accountBank)).data?.ibanValidation?.bankData).toEqual({ bic: null, schemes: null });
  });

  it('has a register that was imported after the start', async () => {
    const { ask, importsDir } = await tBankGateway('AAAADEFFXXX');
    let requests = 0;
    // The reply to the same request is kept for up to a minute.
    const askAgain = async () => (await ask(`# ${requests++}\n${accountBank}`)).data?.ibanValidation?.bankData?.schemes;
    expect(await askAgain()).toBeNull();
    const importOf = async (bic: string, date: string) => {
      const path = tRegisterFile(tFolder(), 'sct_inst.csv', [tParticipant(bic, '2019-01-07')]);
      await importElsewhere(importsDir, 'EPC', path, '--date', date);
    };
    await importOf('AAAADEFF', '2026-11-20');
    await expect.poll(askAgain).toEqual([sctInst]);
    await importOf('BBBBDEFF', '2026-11-25');
    await expect.poll(askAgain).toEqual([{ ...sctInst, ...none, takesPart: false, registerDate: '2026-11-25' }]);
  });

  it('is fresh for a minute at most, as an import may replace the registers', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { graphql } = await tBankGateway('AAAADEFFXXX');
    const response = await graphql.fetch(`http://gateway/graphql?query=${encodeURIComponent(accountBank)}`, {});
    expect(response.headers.get('cache-control')).toBe('private, max-age=60');
  });
});
