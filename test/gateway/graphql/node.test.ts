import { execute, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { AbortableSignal } from '../../../src/base/async/signal.ts';
import type { Scope } from '../../../src/gateway/config/callers.ts';
import { createContext } from '../../../src/gateway/graphql/schema/context.ts';
import { createIbanIds } from '../../../src/gateway/graphql/schema/iban-ids.ts';
import { schema } from '../../../src/gateway/graphql/schema/schema.ts';
import type { Secrets } from '../../../src/gateway/stores/sealed-store.ts';
import { StoreError } from '../../../src/gateway/stores/store.ts';
import { tCaller } from '../../support/gateway/callers.ts';
import { tServices } from '../../support/gateway/graphql/scripted-services.ts';
import { tGateway, tScriptedGateway } from '../../support/gateway.ts';
import { replyJson } from '../../support/scripted-upstream.ts';
import { tBankDataService } from '../../support/self-hosted.ts';

const german = 'DE89370400440532013000';
const query = 'query ($id: ID!) { node(id: $id) { __typename id ...I ... on BankData { name } ...E ...O } }';
const fragments = `fragment I on IbanValidation { iban format { isWellFormed } } fragment E on Essay { wordCount }
  fragment O on EssayOrder { state { __typename } }`;
const refetch = `${query} ${fragments}`;

describe('node(id:)', () => {
  it('finds an IBAN validation again, without a call for fields that need none', async () => {
    const { ask, upstream } = await tScriptedGateway(replyJson(200, { valid: true }));
    const { data } = await ask(`{ ibanValidation(iban: "de89 3704 0044 0532 0130 00") { id } }`);
    const id = data?.ibanValidation?.id;
    expect((await ask(refetch, { id })).data?.node).toEqual({
      __typename: 'IbanValidation',
      id,
      iban: german,
      format: { isWellFormed: true },
    });
    expect(upstream.calls).toHaveLength(0);
    const valid = 'query ($id: ID!) { node(id: $id) { ... on IbanValidation { valid } } }';
    expect((await ask(valid, { id })).data?.node).toEqual({ valid: true });
    expect(upstream.calls).toHaveLength(1);
  });

  it('finds a bank again', async () => {
    const { ask } = tGateway({ bankDataUrl: await tBankDataService() });
    const { data } = await ask(`{ ibanValidation(iban: "${german}") { bankData { id name } } }`);
    const bank = data?.ibanValidation?.bankData;
    expect((await ask(refetch, { id: bank?.id })).data?.node).toEqual({ __typename: 'BankData', ...bank });
  });

  it('finds an essay and its order again', async () => {
    const { ask } = await tScriptedGateway(
      replyJson(200, { essay: 'Pens hold ink, and people write letters with them.' }),
    );
    const { data } = await ask(`mutation { generateEssay(input: {
      description: "Pens", wordCount: 20, idempotencyKey: "a" }) { ... on Essay { id wordCount } } }`);
    const essay = data?.generateEssay;
    expect((await ask(refetch, { id: essay?.id })).data?.node).toEqual({ __typename: 'Essay', ...essay });
    const { data: found } = await ask('{ essayOrder(idempotencyKey: "a") { id } }');
    const id = found?.essayOrder?.id;
    const state = { __typename: 'EssayFinished' };
    expect((await ask(refetch, { id })).data?.node).toEqual({ __typename: 'EssayOrder', id, state });
  });

  it.each(['iban-', 'iban-AAAA', `iban-${'A'.repeat(60)}`, 'DE:x:', 'unknown', '7b0a2d6e-0000-4000-8000-000000000000'])(
    'is null for the unknown id %j',
    async (id) => {
      const { ask } = await tScriptedGateway(replyJson(200, { data: [] }));
      expect(await ask(refetch, { id })).toEqual({ data: { node: null } });
    },
  );

  it.each([
    ['of no country', 'ZZ:1:'],
    ['with a country that is too long', `${'X'.repeat(100)}:1:`],
    ['with a longer code than can be searched for', `DE:${'9'.repeat(101)}:`],
  ])('pays for no bank %s', async (_, id) => {
    const { ask, upstream } = await tScriptedGateway(replyJson(200, { data: [] }));
    expect(await ask(refetch, { id })).toEqual({ data: { node: null } });
    expect(upstream.calls).toHaveLength(0);
  });

  it('finds an order whose id begins as the id of an essay does', async () => {
    const services = tServices();
    const id = `0123abcd-${'x'.repeat(34)}`;
    const order = await services.essays.find('known', tCaller.id);
    const find = async (sought: string) => (sought === id && order ? { ...order, id } : null);
    const essays = { ...services.essays, find };
    const contextValue = createContext({ ...services, essays }, tCaller, new AbortableSignal());
    const { data } = await execute({ schema, document: parse(refetch), variableValues: { id }, contextValue });
    expect(data).toMatchObject({ node: { __typename: 'EssayOrder', id } });
  });

  it('counts IBANs, texts and look-ups of banks as the fields that it stands for', async () => {
    const { ask } = tGateway({ env: { MAX_IBANS_PER_QUERY: '1' } });
    const { data } = await ask(`{ ibanValidation(iban: "${german}") { id } }`);
    const id = data?.ibanValidation?.id;
    const twice = 'query ($id: ID!) { a: node(id: $id) { id } b: node(id: $id) { id } }';
    const answer = await ask(twice, { id });
    expect(answer.data).toEqual({ a: { id }, b: null });
    expect(answer.errors).toMatchObject([{ path: ['b'], message: expect.stringContaining('at most 1 IBANs') }]);
    const banks = Array.from({ length: 21 }, (_, index) => `b${index}: node(id: "DE:${index + 1}:") { id }`);
    const { errors } = await (await tScriptedGateway(replyJson(200, { data: [] }))).ask(`{ ${banks.join(' ')} }`);
    expect(errors).toMatchObject([{ path: ['b20'], message: expect.stringContaining('at most 20 bank lists') }]);
  });

  it('costs at least what the dearest object costs', async () => {
    const { ask } = tGateway({ env: { MAX_QUERY_COST: '1000' } });
    const nodes = Array.from({ length: 80 }, (_, index) => `n${index}: node(id: "iban-") { id }`);
    const { errors } = await ask(`{ ${nodes.join(' ')} }`);
    expect(errors?.[0]?.message).toMatch(/^The query costs 1040; it may cost at most 1000 /);
  });
});

describe('a caller with one scope', () => {
  const services = tServices();
  const find = async (scope: Scope, id: string) => {
    const caller = { ...tCaller, scopes: new Set([scope]) };
    const contextValue = createContext(services, caller, new AbortableSignal());
    return execute({ schema, document: parse(refetch), variableValues: { id }, contextValue });
  };
  const ofBankData = [services.ibanIds.write(german), 'DE:37040044:COBADEFFXXX', 'iban-', ':'];
  const ofEssays = ['known', '7b0a2d6e-0000-4000-8000-000000000000', ''];

  it.each([
    ['bank-data', 'essays', ofEssays],
    ['essays', 'bank-data', ofBankData],
  ] as const)('%s finds no object of %s', async (granted, missing, ids) => {
    for (const id of ids) {
      const { data, errors } = await find(granted, id);
      expect(data).toEqual({ node: null });
      expect(errors).toMatchObject([
        { originalError: { code: 'FORBIDDEN' }, message: expect.stringContaining(missing) },
      ]);
    }
  });

  it('finds its own', async () => {
    expect((await find('essays', 'known')).data).toMatchObject({ node: { __typename: 'EssayOrder' } });
    expect((await find('bank-data', ofBankData[0] ?? '')).data).toMatchObject({ node: { iban: german } });
  });
});

describe('the id of an IBAN validation', () => {
  it('is the same for the same IBAN, and shows no part of it, plain or in base64', () => {
    const ids = createIbanIds(() => ['one secret']);
    const id = ids.write(german);
    expect(ids.write(german)).toBe(id);
    expect(createIbanIds(() => ['one secret']).read(id)).toBe(german);
    expect(id).not.toContain('3704');
    expect(Buffer.from(id.slice(5), 'base64url').toString('latin1')).not.toContain('3704');
  });

  it('cannot be read with another secret, nor if it was changed', () => {
    const ids = createIbanIds(() => ['one secret']);
    const id = ids.write(german);
    expect(createIbanIds(() => ['another secret']).read(id)).toBeNull();
    for (let at = 5; at < id.length - 1; at += 1) {
      const changed = id.slice(0, at) + (id[at] === 'A' ? 'B' : 'A') + id.slice(at + 1);
      expect(ids.read(changed), changed).toBeNull();
    }
  });

  it('is written with the present secret, and read with each', () => {
    let secrets: Secrets = ['one secret'];
    const ids = createIbanIds(() => secrets);
    const id = ids.write(german);
    secrets = ['another secret', 'one secret'];
    expect(ids.read(id)).toBe(german);
    expect(ids.write(german)).toBe(createIbanIds(() => ['another secret']).write(german));
    expect(ids.read(ids.write(german))).toBe(german);
    secrets = ['another secret'];
    expect(ids.read(id)).toBeNull();
  });

  it('is one of this process while the secret cannot be created: its look-up is not lost', () => {
    let isFull = true;
    const ids = createIbanIds(() => {
      if (isFull) throw new StoreError('DATA_DIR is not writable (ENOSPC)');
      return ['one secret'];
    });
    const id = ids.write(german);
    expect([ids.write(german), ids.read(id)]).toEqual([id, german]);
    isFull = false;
    expect(ids.read(id)).toBeNull();
    expect(ids.write(german)).toBe(createIbanIds(() => ['one secret']).write(german));
  });

  it.each(['', 'x'.repeat(64), '\u{1F600}'.repeat(32), '\u20AC'.repeat(64)])(
    'fits into the argument for %j',
    (iban) => {
      const ids = createIbanIds(() => ['one secret']);
      expect(ids.write(iban).length).toBeLessThanOrEqual(300);
      expect(ids.read(ids.write(iban))).toBe(iban);
    },
  );
});
