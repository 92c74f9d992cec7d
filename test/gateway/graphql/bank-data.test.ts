import { describe, expect, it } from 'vitest';
import { type Answer, tGateway, tScriptedGateway } from '../../support/gateway.ts';
import { replyJson } from '../../support/scripted-upstream.ts';
import { tBankDataService, tHostedBankData } from '../../support/self-hosted.ts';

/* All bank data except IBAN validation, from the self-hosted service and from a replay of the hosted one. */

const upstreams = [
  ['the self-hosted service', tBankDataService],
  ['a replay of the hosted service', async () => (await tHostedBankData()).url],
] as const;

describe.each(upstreams)('with %s', (_, start) => {
  const name = expect.stringContaining('Commerzbank');

  it('validates and parses a BIC and finds its bank, or null', async () => {
    const { ask } = tGateway({ bankDataUrl: await start() });
    const answer = await ask(`{
      bicValidation(bic: "cobadeff xxx") {
        bic valid problems partyPrefix countryCode location branch isHeadOffice isTest bankData { name bic countryCode } }
      wrong: bicValidation(bic: "COBADEF$") { valid problems partyPrefix bankData { bic } }
      known: bank(bic: "COBADEFF") { name }
      unknown: bank(bic: "ZZZZDEFF") { name } }`);
    const parts = { partyPrefix: 'COBA', countryCode: 'DE', location: 'FF', branch: 'XXX' };
    const bankData = { name, bic: 'COBADEFFXXX', countryCode: 'DE' };
    const validated = { bic: 'COBADEFFXXX', valid: true, problems: [], isHeadOffice: true, isTest: false, bankData };
    const wrong = { valid: false, problems: ['ILLEGAL_CHARACTERS'], partyPrefix: null, bankData: null };
    const bicValidation = { ...parts, ...validated };
    expect(answer).toEqual({ data: { bicValidation, wrong, known: { name }, unknown: null } });
  });

  it.each([
    ['its parts', 'bankCode: "370 400 44", accountNumber: "532013000"'],
    ['its whole national number', 'accountNumber: "37040044 0532013000"'],
  ])('generates an IBAN from %s and validates it', async (_, fields) => {
    const { ask } = tGateway({ bankDataUrl: await start() });
    const { data } = await ask(`{ generateIban(input: { country: "de", ${fields} }) {
      __typename ... on IbanValidation { iban valid nationalCheck bankData { name } } ... on UserError { message } } }`);
    expect(data?.generateIban).toEqual({
      __typename: 'IbanValidation',
      iban: 'DE89370400440532013000',
      valid: true,
      nationalCheck: 'NOT_APPLICABLE',
      bankData: { name: 'Commerzbank' },
    });
  });

  it('applies the rule of a German bank, and reports an account that it excludes', async () => {
    const { ask } = tGateway({ bankDataUrl: await tBankDataService() });
    const generate = `query ($bankCode: String!, $accountNumber: String!) {
      generateIban(input: { country: "DE", bankCode: $bankCode, accountNumber: $accountNumber }) {
        ... on IbanValidation { iban valid ibanRule } ... on InvalidIbanFields { fields { name reason } } } }`;
    const answers = [];
    for (const [bankCode, accountNumber] of [
      ['50050201', '2000'],
      ['10070000', '6723143'],
      ['10070000', '117'],
      ['38010111', '117'],
      ['99999999', '117'],
    ]) {
      answers.push((await ask(generate, { bankCode, accountNumber })).data?.generateIban);
    }
    expect(answers).toEqual([
      { iban: 'DE42500502010000222000', valid: true, ibanRule: 'APPLIED' },
      { iban: 'DE20100700000006723143', valid: true, ibanRule: 'APPLIED' },
      { fields: [{ name: 'accountNumber', reason: 'NO_IBAN' }] },
      { fields: [{ name: 'bankCode', reason: 'RULE_NOT_IMPLEMENTED' }] },
      { iban: expect.stringContaining('999999990000000117'), valid: true, ibanRule: 'UNKNOWN' },
    ]);
  });

  it('pages through the banks of a country without a gap or a repeat', async () => {
    const { ask } = tGateway({ bankDataUrl: await start() });
    const page = `query ($first: Int!, $after: String) { banks(country: "de", first: $first, after: $after) {
      edges { cursor node { bankCode countryCode } } nodes { bankCode } totalCount
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;
    const whole = banksOf(await ask(page, { first: 20 }));
    expect(whole.nodes).toHaveLength(20);
    expect(whole.totalCount).toBeGreaterThan(20);
    expect(new Set(whole.edges.map(({ node }) => node.countryCode))).toEqual(new Set(['DE']));
    expect(whole.pageInfo).toEqual({
      hasNextPage: true,
      hasPreviousPage: false,
      startCursor: whole.edges[0]?.cursor,
      endCursor: whole.edges[19]?.cursor,
    });

    const codes: string[] = [];
    let after: string | null = null;
    for (const first of [3, 7, 10]) {
      const { nodes, pageInfo }: BankPage = banksOf(await ask(page, { first, after }));
      expect(nodes).toHaveLength(first);
      expect(pageInfo.hasPreviousPage).toBe(after !== null);
      codes.push(...nodes.map(({ bankCode }) => bankCode));
      after = pageInfo.endCursor;
    }
    expect(codes).toEqual(whole.nodes.map(({ bankCode }) => bankCode));
  });

  it('finds only banks with the search text in their name', async () => {
    const { ask } = tGateway({ bankDataUrl: await start() });
    const { nodes } = banksOf(await ask('{ banks(country: "DE", search: "klarna", first: 100) { nodes { name } } }'));
    const names = nodes.map(({ name }) => name);
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect(name).toMatch(/klarna/i);
  });
});

interface BankPage {
  edges: { cursor: string; node: { bankCode: string; countryCode: string } }[];
  nodes: { bankCode: string; name: string }[];
  totalCount: number;
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string; endCursor: string };
}

const banksOf = ({ data }: Answer) => data?.banks as unknown as BankPage;

describe('a list of banks without an end', () => {
  it('ends at the last cursor that the gateway reads', async () => {
    const data = Array.from({ length: 20 }, () => ({ swift_data: { bic: 'COBADEFFXXX' } }));
    const { ask, upstream } = await tScriptedGateway(replyJson(200, { data }));
    const page = `query ($after: String) { banks(first: 20, after: $after) {
      nodes { bic } pageInfo { hasNextPage endCursor } } }`;
    const sizes: number[] = [];
    let after: string | null = Buffer.from('offset:999999974').toString('base64url');
    for (let hasNextPage = true; hasNextPage; ) {
      const answer: Answer = await ask(page, { after });
      expect(answer.errors).toBeUndefined();
      const { nodes, pageInfo } = banksOf(answer);
      sizes.push(nodes.length);
      ({ hasNextPage, endCursor: after } = pageInfo);
    }
    expect(sizes).toEqual([20, 20, 0]);
    expect(upstream.calls).toHaveLength(4);
  });
});

describe('a query that needs no upstream', () => {
  it('lists the 89 countries of the registry, with the 41 SEPA countries and Gibraltar', async () => {
    const { ask, upstream } = await tScriptedGateway();
    const { data } = await ask(
      '{ all: countries { code } sepa: countries(isSepa: true) { code } others: countries(isSepa: false) { code } }',
    );
    const [all = [], sepa = [], others = []] = Object.values(data ?? {}).map((countries) =>
      Object.values(countries).map(({ code }) => String(code)),
    );
    expect(all).toHaveLength(89);
    expect(all).toEqual(all.toSorted());
    expect(sepa).toHaveLength(42);
    expect(sepa).toContain('GI');
    expect(others).toHaveLength(89 - 42);
    expect(upstream.calls).toHaveLength(0);
  });

  it('returns the IBAN format and the territories of a country', async () => {
    const { ask, upstream } = await tScriptedGateway();
    const { data, errors } = await ask(`{
      france: country(code: "fr") { code name isSepa ibanLength ibanFormatAsSwift ibanFormatAsRegex ibanExample parent { code }
        ibanFields { name length characters isPadded } territories { code name isSepa parent { code } ibanExample } }
      states: country(code: "US") { code }
      nowhere: country(code: "") { code }
      martinique: country(code: "MQ") { parent { code } territories { code } }
    }`);
    expect(errors).toBeUndefined();
    const { territories, ...france } = data?.france ?? {};
    expect(france).toEqual({
      code: 'FR',
      name: 'France',
      isSepa: true,
      ibanLength: 27,
      ibanFormatAsSwift: 'FR2!n5!n5!n11!c2!n',
      ibanFormatAsRegex: '^FR(\\d{2})(\\d{5})(\\d{5})([A-Za-z0-9]{11})(\\d{2})$',
      ibanExample: 'FR1420041010050500013M02606',
      parent: null,
      ibanFields: [
        { name: 'bankCode', length: 5, characters: 'DIGITS', isPadded: false },
        { name: 'branch', length: 5, characters: 'DIGITS', isPadded: false },
        { name: 'accountNumber', length: 11, characters: 'LETTERS_AND_DIGITS', isPadded: true },
      ],
    });
    const ibanExample = 'MQ5120041010050500013M02606';
    expect(territories).toHaveLength(12);
    expect(territories).toContainEqual({
      code: 'MQ',
      name: 'Martinique',
      isSepa: true,
      parent: { code: 'FR' },
      ibanExample,
    });
    const martinique = { parent: { code: 'FR' }, territories: [] };
    expect(data).toMatchObject({ states: null, nowhere: null, martinique });
    expect(upstream.calls).toHaveLength(0);
  });

  it('reports all problems of the fields of an IBAN at once', async () => {
    const { ask, upstream } = await tScriptedGateway();
    const { data } =
      await ask(`{ generateIban(input: { country: "DE", bankCode: "3704004", branch: "1", accountNumber: "05320130001" }) {
      __typename ... on UserError { message } ... on InvalidIbanFields { fields { name reason min max message } } } }`);
    expect(data?.generateIban).toMatchObject({
      __typename: 'InvalidIbanFields',
      fields: [
        {
          name: 'bankCode',
          reason: 'WRONG_LENGTH',
          min: 8,
          max: 8,
          message: 'The bank code has 7 characters; a bank code of DE has 8 digits.',
        },
        {
          name: 'branch',
          reason: 'NOT_IN_COUNTRY',
          min: null,
          max: null,
          message: 'The branch has 1 character; an IBAN of DE has no branch.',
        },
        {
          name: 'accountNumber',
          reason: 'WRONG_LENGTH',
          min: 1,
          max: 10,
          message: 'The account number has 11 characters; an account number of DE has up to 10 digits.',
        },
      ],
    });
    expect(upstream.calls).toHaveLength(0);
  });

  it('suggests the IBAN of its parent for a territory', async () => {
    const { ask, upstream, log } = await tScriptedGateway();
    const { data } =
      await ask(`{ generateIban(input: { country: "je", bankCode: "NWBK", branch: "601613", accountNumber: "31926819" }) {
      ... on InvalidIbanFields { message suggestions fields { name } } } }`);
    const message = 'The country is JE, whose banks use IBANs of GB; use GB.';
    const suggestions = ['GB29NWBK60161331926819'];
    expect(data?.generateIban).toEqual({ message, suggestions, fields: [{ name: 'country' }] });
    expect(log()).not.toContain('31926819');
    expect(upstream.calls).toHaveLength(0);
  });

  it('examines an IBAN of a country outside the registry', async () => {
    const { ask, upstream } = await tScriptedGateway();
    const fields =
      'valid problems nationalCheck suggestions country { code } ibanData { bban } bankData { name } countryIbanExample';
    const { data, errors } = await ask(`{
      right: ibanValidation(iban: "BJ66 BJ06 1010 0100 1443 9000 0769") { ${fields} }
      wrong: ibanValidation(iban: "CG3930011000101013451300018") { valid problems nationalCheck }
      list: ibanValidations(ibans: ["MA65", "IR710570029971601460641001", "US12"]) { valid problems nationalCheck }
      morocco: country(code: "MA") { code } }`);
    expect(errors).toBeUndefined();
    const nothing = { suggestions: [], country: null, ibanData: null, bankData: null, countryIbanExample: null };
    const nationalCheck = 'NOT_APPLICABLE';
    expect(data).toEqual({
      right: { valid: false, problems: ['NOT_REGISTERED'], nationalCheck: 'PASSED', ...nothing },
      wrong: { valid: false, problems: ['NOT_REGISTERED', 'WRONG_CHECK_DIGITS'], nationalCheck: 'FAILED' },
      list: [
        { valid: false, problems: ['NOT_REGISTERED', 'TOO_SHORT'], nationalCheck },
        { valid: false, problems: ['NOT_REGISTERED'], nationalCheck },
        { valid: false, problems: ['UNKNOWN_COUNTRY'], nationalCheck },
      ],
      morocco: null,
    });
    expect(upstream.calls).toHaveLength(0);
  });

  it.each([
    ['first: 0', 'The page size is 0; it must be from 1 to 100.'],
    ['first: 101', 'The page size is 101; it must be from 1 to 100.'],
    ['country: "Germany"', 'The country must be an ISO 3166-1 alpha-2 code, such as DE.'],
    ['after: "7"', 'The cursor must be one that the list returned.'],
    [`search: "${'a '.repeat(11)}"`, 'The search must have at most 10 words.'],
  ])('rejects banks(%s)', async (args, message) => {
    const { ask, upstream } = await tScriptedGateway();
    const { data, errors } = await ask(`{ banks(${args}) { totalCount } }`);
    expect(data).toEqual({ banks: null });
    expect(errors).toMatchObject([{ message, path: ['banks'], extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(upstream.calls).toHaveLength(0);
  });
});

describe('an endpoint that the service does not offer', () => {
  it.each([
    ['404', { message: 'no Route matched with those values' }],
    ['403', { message: 'You cannot consume this service' }],
  ])('(status %s) nulls only its own field', async (status, body) => {
    const gateway = await tScriptedGateway((response, call) => {
      const isOffered = call.path === '/bank_data/iban_validate';
      return (isOffered ? replyJson(200, { valid: true }) : replyJson(Number(status), body))(response, call);
    });
    const { upstream } = gateway;
    const { data, errors } = await gateway.ask(`{
      ibanValidation(iban: "DE89370400440532013000") { valid }
      bicValidation(bic: "COBADEFF") { valid }
      bank(bic: "COBADEFF") { name }
      banks(country: "DE") { totalCount }
      generateIban(input: { country: "DE", bankCode: "37040044", accountNumber: "532013000" }) { __typename }
      country(code: "DE") { code }
    }`);
    expect(data).toEqual({
      ibanValidation: { valid: true },
      bicValidation: { valid: null },
      bank: null,
      banks: null,
      generateIban: null,
      country: { code: 'DE' },
    });
    expect(errors).toHaveLength(4);
    for (const { message, extensions } of errors ?? []) {
      expect(message).toBe('The bank-data service does not offer this operation.');
      expect(extensions).toMatchObject({ code: 'UPSTREAM_FAILED', service: 'bank-data', retryable: false });
    }
    // bicValidation and bank share a call.
    expect(upstream.calls).toHaveLength(4);
    expect(gateway.log()).not.toContain('rejects our key');
  });
});
