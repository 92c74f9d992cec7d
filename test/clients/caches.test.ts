import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { printClientCaches } from '../../scripts/print-schema.ts';
import { cachingClients } from '../support/clients/caches.ts';
import { tGateway } from '../support/gateway.ts';
import { type Reply, replyClosed, replyFailingFor, replyJson, tUpstream } from '../support/scripted-upstream.ts';
import { tBankDataService } from '../support/self-hosted.ts';

/* The files of `clients` in the real clients, with a gateway. */

const iban = 'DE89370400440532013000';
const other = 'DE44500105175407324931';

interface BankPage {
  nodes: { id: string }[];
  pageInfo: { endCursor: string };
}

const replyValid = replyJson(200, { valid: true, bank_data: { name: 'Commerzbank', bic: 'COBADEFFXXX' } });

it('have the types of the schema; `npm run schema` writes them', () => {
  for (const [file, text] of printClientCaches()) expect(readFileSync(file, 'utf8')).toBe(text);
});

describe.each(cachingClients)('the cache of %s', (_, createClient) => {
  let warnings: MockInstance[];
  beforeEach(() => {
    warnings = [vi.spyOn(console, 'warn'), vi.spyOn(console, 'error'), vi.spyOn(console, 'debug')];
  });
  afterEach(() => {
    // Both clients warn of what their caches cannot store or find.
    expect(warnings.flatMap(({ mock }) => mock.calls)).toEqual([]);
    vi.restoreAllMocks();
  });

  /** With a self-hosted bank-data service. */
  const tClient = async () => tClientOf(await tBankDataService());

  async function tFailingClient(reply: Reply) {
    const upstream = await tUpstream(reply);
    return { upstream, ...tClientOf(upstream.url) };
  }

  function tClientOf(bankDataUrl: string) {
    const { graphql } = tGateway({ bankDataUrl });
    let requests = 0;
    const client = createClient((input, init) => {
      requests += 1;
      return graphql.fetch(String(input), init ?? {});
    });
    return { ...client, requests: () => requests };
  }

  describe('after an outage', () => {
    it.each([
      ['one IBAN', 'query ($iban: String!) { ibanValidation(iban: $iban) { iban valid } }'],
      ['an IBAN without its key', 'query ($iban: String!) { ibanValidation(iban: $iban) { valid } }'],
      ['a bank, without valid', 'query ($iban: String!) { ibanValidation(iban: $iban) { iban bankData { name } } }'],
      ['aliases', 'query ($iban: String!) { first: ibanValidation(iban: $iban) { iban isRight: valid } }'],
      ['a list', 'query ($iban: String!) { ibanValidations(ibans: [$iban]) { iban valid } }'],
      ['a fragment', 'query ($iban: String!) { ...Q } fragment Q on Query { ibanValidation(iban: $iban) { valid } }'],
    ])('the next query asks the gateway again: %s', async (_title, query) => {
      const { ask, upstream, requests } = await tFailingClient(replyClosed);
      expect((await ask(query, { iban })).codes).toEqual(['UPSTREAM_FAILED']);
      upstream.answers(replyValid);
      const { data, codes } = await ask(query, { iban });
      expect([codes, requests()]).toEqual([[], 2]);
      expect(JSON.stringify(data)).not.toContain('null');
      expect([(await ask(query, { iban })).data, requests()]).toEqual([data, 2]);
    });

    it('shows null with its error, and asks only when it is asked', async () => {
      const { ask, watch, requests } = await tFailingClient(replyClosed);
      const results: unknown[] = [];
      const query = 'query ($iban: String!) { ibanValidation(iban: $iban) { iban valid } }';
      watch(query, { iban }, ({ data, codes }) => results.push([data, codes]));
      await vi.waitFor(() => expect(results).toHaveLength(1));
      await ask('{ limits { ibans } }');
      expect(results).toEqual([[{ ibanValidation: expect.objectContaining({ valid: null }) }, ['UPSTREAM_FAILED']]]);
      expect(requests()).toBe(2);
    });

    it('keeps the other rows of a list', async () => {
      const { ask, requests } = await tFailingClient(replyFailingFor(other, replyValid));
      const list = 'query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { iban valid } }';
      const { data, codes } = await ask(list, { ibans: [iban, other] });
      expect(data).toMatchObject({ ibanValidations: [{ valid: true }, { valid: null }] });
      expect(codes).toEqual(['UPSTREAM_FAILED']);
      await ask(list, { ibans: [iban, other] });
      expect(requests()).toBe(2);
    });
  });

  it.each([
    ['of one format', '{ iban format { masked } }', '{ iban format { printFormat } }'],
    ['with and without the key', '{ iban valid }', '{ valid format { masked } }'],
    ['of a bank with and without its id', '{ iban bankData { id name } }', '{ iban bankData { name bic } }'],
    ['of a country with and without its code', '{ iban country { code } }', '{ iban country { name } }'],
  ])('answers two queries with one request each, if they select different fields %s', async (_title, first, second) => {
    const { ask, watch, requests } = await tClient();
    const queries = [first, second].map((fields) => `query ($iban: String!) { ibanValidation(iban: $iban) ${fields} }`);
    const results: unknown[][] = [[], []];
    for (const [index, query] of queries.entries()) {
      watch(query, { iban }, ({ data, codes }) => results[index]?.push([data, codes]));
      await vi.waitFor(() => expect(results[index]).not.toHaveLength(0));
    }
    for (const query of queries) expect((await ask(query, { iban })).codes).toEqual([]);
    expect(requests()).toBe(2);
    expect(JSON.stringify(results)).not.toContain('null');
  });

  it.each([
    ['allowances', '{ allowances { service used } }', '{ allowances { service remaining } }'],
    ['limits', '{ limits { ibans } }', '{ limits { essays } }'],
    ['countries', '{ countries(sepa: true) { code name } }', '{ countries(sepa: true) { ibanLength } }'],
  ])('answers queries of %s with one request each', async (_title, first, second) => {
    const { ask, watch, requests } = await tClient();
    for (const query of [first, second]) {
      let isAnswered = false;
      watch(query, {}, () => {
        isAnswered = true;
      });
      await vi.waitFor(() => expect(isAnswered).toBe(true));
    }
    for (const query of [first, second]) await ask(query);
    expect(requests()).toBe(2);
  });

  it('has each row of a list where one IBAN is written in two ways', async () => {
    const { ask } = await tClient();
    const list = 'query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { iban valid } }';
    const { data } = await ask(list, { ibans: ['DE89 3704 0044 0532 0130 00', other, iban] });
    expect(data).toMatchObject({ ibanValidations: [{ iban }, { iban: other }, { iban }] });
  });

  it('matches the fragments of unions and interfaces', async () => {
    const { ask } = await tClient();
    const query = '{ generateIban(input: { country: "XX" }) { __typename ... on Error { message } } }';
    expect((await ask(query)).data).toMatchObject({
      generateIban: { __typename: 'InvalidIbanFields', message: expect.any(String) },
    });
  });

  it('stores a member of a union without warnings of the fields of other members', async () => {
    const { ask } = await tClient();
    const query = `{
      generateIban(input: { country: "XX" }) {
        ... on IbanValidation { iban format { masked } }
        ... on InvalidIbanFields { fields { field } }
      }
    }`;
    expect((await ask(query)).data).toMatchObject({ generateIban: { fields: [{ field: 'country' }] } });
  });

  it('joins the pages of a list of banks', async () => {
    const { ask, loadMore, requests } = await tClient();
    const query = `query ($after: String) {
      banks(country: "DE", first: 2, after: $after) { nodes { id name } pageInfo { endCursor hasNextPage } }
    }`;
    const read = async () => (await ask<{ banks: BankPage }>(query, { after: null })).data.banks;
    const first = await read();
    await loadMore(query, { after: null }, { after: first.pageInfo.endCursor });
    const ids = (await read()).nodes.map(({ id }) => id);
    expect(ids.slice(0, 2)).toEqual(first.nodes.map(({ id }) => id));
    expect(new Set(ids).size).toBe(4);
    expect(requests()).toBe(2);
  });
});
