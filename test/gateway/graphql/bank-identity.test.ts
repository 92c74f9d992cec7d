import { gql, InMemoryCache } from '@apollo/client';
import { describe, expect, it } from 'vitest';
import { createBankLists } from '../../../src/banks/bank-lists.ts';
import { tGateway, tScriptedGateway } from '../../support/gateway.ts';
import { replyJson } from '../../support/scripted-upstream.ts';
import { tBankDataService } from '../../support/self-hosted.ts';

const pageQuery = gql`
  query Page($after: String) {
    banks(country: "DE", first: 100, after: $after) { nodes { id bankCode name bic } pageInfo { hasNextPage endCursor } }
  }
`;

interface Page {
  banks: { nodes: { id: string; bankCode: string }[]; pageInfo: { hasNextPage: boolean; endCursor: string } };
}

it('keeps every bank of the German list apart in the cache of Apollo Client', async () => {
  const { ask } = tGateway({ bankDataUrl: await tBankDataService() });
  const cache = new InMemoryCache();
  const codes: string[] = [];
  const pages: (string | null)[] = [];
  let after: string | null = null;
  do {
    const { data } = await ask(pageQuery.loc?.source.body ?? '', { after });
    pages.push(after);
    cache.writeQuery({
      query: cache.transformDocument(pageQuery),
      variables: { after },
      data: withTypes(data as never),
    });
    const { nodes, pageInfo } = (data as unknown as Page).banks;
    codes.push(...nodes.map(({ bankCode }) => bankCode));
    after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  } while (after !== null);

  expect(codes.toSorted()).toEqual(
    createBankLists()
      .banks('DE')
      .map(({ bankCode }) => bankCode)
      .toSorted(),
  );
  const read = pages.flatMap(
    (page) => cache.readQuery<Page>({ query: pageQuery, variables: { after: page } })?.banks.nodes ?? [],
  );
  expect(read.map(({ bankCode }) => bankCode)).toEqual(codes);
  const stored = Object.keys(cache.extract()).filter((key) => key.startsWith('BankData:'));
  expect(stored).toHaveLength(codes.length);
});

/** Apollo Client adds `__typename` to each selection. */
function withTypes({ banks }: Page) {
  const nodes = banks.nodes.map((node) => ({ __typename: 'BankData', ...node }));
  const pageInfo = { __typename: 'PageInfo', ...banks.pageInfo };
  return { banks: { __typename: 'BankDataConnection', nodes, pageInfo } };
}

describe('BankData as an entity', () => {
  const query = `query ($r: [_Any!]!) { _entities(representations: $r) { ... on BankData { id bankCode name bic } } }`;
  const ask = async (...keys: object[]) => {
    const gateway = tGateway({ bankDataUrl: await tBankDataService() });
    return gateway.ask(query, { r: keys.map((key) => ({ __typename: 'BankData', ...key })) });
  };

  it('has the key id, for each of the banks that share a BIC', async () => {
    const ids = ['DE:10040010:COBADEFFXXX', 'DE:10040048:COBADEFFXXX', 'DE:50040000:COBADEFFXXX'];
    const { data, errors } = await ask(...ids.map((id) => ({ id })));
    expect(errors).toBeUndefined();
    const banks = data?._entities as unknown as { id: string; bankCode: string }[];
    expect(banks.map(({ id }) => id)).toEqual(ids);
    expect(banks.map(({ bankCode }) => bankCode)).toEqual(['10040010', '10040048', '50040000']);
  });

  it.each(['DE:50040000:', 'DE:99999999:COBADEFFXXX', ':::', 'x', '', 'DE::'])(
    'is null for the id "%s" of no record',
    async (id) => {
      const { data, errors } = await ask({ id });
      expect(data?._entities).toEqual([null]);
      expect(errors).toBeUndefined();
    },
  );

  it('needs its id as a string: several banks may share a BIC', async () => {
    const { data, errors } = await ask({ id: 7 }, {}, { bic: 'COBADEFFXXX' });
    expect(data?._entities).toEqual([null, null, null]);
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(Array(3).fill('BAD_USER_INPUT'));
  });

  it('fails with the service', async () => {
    const { ask } = await tScriptedGateway(replyJson(500, {}));
    const { data, errors } = await ask(query, { r: [{ __typename: 'BankData', id: 'DE:50040000:COBADEFFXXX' }] });
    expect(data?._entities).toEqual([null]);
    expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_FAILED' } }]);
  });
});

it('the bank of an account is the bank of its BIC, with the same id', async () => {
  const { ask } = tGateway({ bankDataUrl: await tBankDataService() });
  const fields = 'id countryCode bankCode name address zip city bic bicSource source date';
  const { data } = await ask(`{ ibanValidation(iban: "DE67500400000532013000") { bankData { ${fields} } }
    bank(bic: "COBADEFF") { ${fields} } }`);
  expect(data?.ibanValidation?.bankData).toEqual(data?.bank);
  expect(data?.bank).toMatchObject({ id: 'DE:50040000:COBADEFFXXX', countryCode: 'DE', address: null });
});

it('has the name in its id if it has neither bank code nor BIC', async () => {
  const { ask } = await tScriptedGateway(
    replyJson(200, { data: [{ swift_data: { name: 'A' } }, { swift_data: { name: 'B' } }] }),
  );
  const { data } = await ask('{ banks { nodes { id } } }');
  expect(data?.banks?.nodes).toEqual([{ id: ':::A' }, { id: ':::B' }]);
});

it.each([
  ['banks(first: null)', '{ banks(country: "DE", first: null) { nodes { id } } }'],
  ['a variable', 'query ($first: Int) { banks(country: "DE", first: $first) { nodes { id } } }'],
])('takes the default for an explicit null: %s', async (_, query) => {
  const { ask } = tGateway({ bankDataUrl: await tBankDataService() });
  const { data, errors } = await ask(query, { first: null });
  expect(errors).toBeUndefined();
  expect((data as { banks?: { nodes: object[] } }).banks?.nodes).toHaveLength(20);
});
