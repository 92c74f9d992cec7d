import { describe, expect, it } from 'vitest';
import { tScriptedGateway } from '../../support/gateway.ts';
import { replyJson } from '../../support/scripted-upstream.ts';

/* What needs no service makes no call, and has its value while the service fails or the allowance is exhausted. */

const german = 'DE89370400440532013000';
const localFields = `iban country { name } nationalCheck bankCodeStatus suggestions countryIbanExample
  bics bicMatch(bic: "COBADEFF")
  format { isWellFormed problems countryCode checksum bban bankCode branch accountNumber nationalChecksum
           printFormat masked }`;

const format = {
  isWellFormed: true,
  problems: [],
  countryCode: 'DE',
  checksum: '89',
  bban: '370400440532013000',
  bankCode: '37040044',
  branch: null,
  accountNumber: '0532013000',
  nationalChecksum: null,
  printFormat: 'DE89 3704 0044 0532 0130 00',
  masked: 'DE89 **** **** **** **30 00',
};
const local = {
  iban: german,
  country: { name: 'Germany' },
  countryIbanExample: german,
  suggestions: [],
  format,
  bicMatch: 'SAME_BANK',
};

const localQueries: [string, string, object?][] = [
  ['an IBAN', `{ ibanValidation(iban: "${german}") { ${localFields} } }`],
  ['__typename', `{ ibanValidation(iban: "${german}") { __typename } }`],
  ['a list', `{ ibanValidations(ibans: ["${german}", "NL91ABNA0417164300"]) { ${localFields} } }`],
  [
    'aliases',
    `{ a: ibanValidation(iban: "${german}") { iban } b: ibanValidation(iban: "${german}") { format { masked } } }`,
  ],
  [
    'entities',
    `query ($r: [_Any!]!) { _entities(representations: $r) { ... on IbanValidation { ${localFields} } ... on BankData { bic } } }`,
    { r: [{ __typename: 'IbanValidation', iban: german }] },
  ],
  [
    'a fragment',
    `{ ibanValidation(iban: "${german}") { ...F } } fragment F on IbanValidation { iban ... { format { bban } } }`,
  ],
  [
    'a skipped field',
    `query ($no: Boolean = true) { ibanValidation(iban: "${german}") { iban valid @skip(if: $no) } }`,
  ],
  [
    'a fragment that is not included',
    `query ($yes: Boolean!) { ibanValidation(iban: "${german}") { iban ...F @include(if: $yes) } } fragment F on IbanValidation { valid }`,
    { yes: false },
  ],
  [
    'a BIC',
    '{ bicValidation(bic: "COBADEFF") { bic countryCode location branch partyPrefix isHeadOffice isTest suggestions } }',
  ],
];

const queriesWithCall: [string, string, object?][] = [
  ['valid', `{ ibanValidation(iban: "${german}") { valid } }`],
  ['problems', `{ ibanValidation(iban: "${german}") { problems } }`],
  ['ibanData', `{ ibanValidation(iban: "${german}") { ibanData { bban } } }`],
  ['bankData', `{ ibanValidation(iban: "${german}") { bankData { bic } } }`],
  ['an alias', `{ ibanValidation(iban: "${german}") { iban: valid } }`],
  [
    'a nested fragment',
    `{ ibanValidation(iban: "${german}") { ...F } } fragment F on IbanValidation { iban ... { valid } }`,
  ],
  [
    'an included field',
    `query ($yes: Boolean!) { ibanValidation(iban: "${german}") { iban valid @include(if: $yes) } }`,
    { yes: true },
  ],
  [
    'a second selection of the field',
    `{ ibanValidation(iban: "${german}") { iban } ibanValidation(iban: "${german}") { valid } }`,
  ],
  [
    'an entity',
    'query ($r: [_Any!]!) { _entities(representations: $r) { ... on IbanValidation { valid } } }',
    { r: [{ __typename: 'IbanValidation', iban: german }] },
  ],
  [
    'a fragment in one on a union',
    'query ($r: [_Any!]!) { _entities(representations: $r) { ...E } } fragment E on _Entity { ... on IbanValidation { valid } }',
    { r: [{ __typename: 'IbanValidation', iban: german }] },
  ],
  [
    'a union around the type',
    `{ ibanValidation(iban: "${german}") { ... on GenerateIbanResult { ... on IbanValidation { valid } } } }`,
  ],
  ['valid of a BIC', '{ bicValidation(bic: "COBADEFF") { valid } }'],
  ['problems of a BIC', '{ bicValidation(bic: "COBADEFF") { problems } }'],
  ['bankData of a BIC', '{ bicValidation(bic: "COBADEFF") { bankData { name } } }'],
];

describe('a call of the service', () => {
  it.each(localQueries)('is not made for local fields of %s', async (_, query, variables = {}) => {
    const { ask, graphql, upstream } = await tScriptedGateway(replyJson(500, {}), { BANK_DATA_MONTHLY_ALLOWANCE: '0' });
    const posted = await ask(query, { ...variables });
    expect(posted.errors).toBeUndefined();
    expect(JSON.stringify(posted.data)).not.toMatch(/: ?null\}$/);
    const parameters = new URLSearchParams({ query, variables: JSON.stringify(variables) });
    const got = await graphql.fetch(`http://gateway/graphql?${parameters}`, {});
    expect(await got.json()).toEqual(posted);
    expect(upstream.calls).toHaveLength(0);
  });

  it.each(queriesWithCall)('is made for %s', async (_, query, variables = {}) => {
    const { ask, upstream } = await tScriptedGateway(replyJson(200, { valid: true, bank_data: { name: 'Bank' } }));
    expect((await ask(query, { ...variables })).errors).toBeUndefined();
    expect(upstream.calls).toHaveLength(1);
  });

  it('is not made for an IBAN or BIC that is not well-formed', async () => {
    const { ask, upstream } = await tScriptedGateway(replyJson(500, {}));
    const { data, errors } =
      await ask(`{ ibanValidation(iban: "DE88370400440532013000") { valid problems format { problems } }
      bicValidation(bic: "COBA") { valid problems } }`);
    const problems = ['WRONG_CHECK_DIGITS'];
    expect(data?.ibanValidation).toEqual({ valid: false, problems, format: { problems } });
    expect(data?.bicValidation).toEqual({ valid: false, problems: ['WRONG_LENGTH'] });
    expect(errors).toBeUndefined();
    expect(upstream.calls).toHaveLength(0);
  });
});

describe('while the service fails', () => {
  const query = `{ ibanValidation(iban: "${german}") { ${localFields} valid problems ibanData { bban } bankData { bic } }
    bicValidation(bic: "COBADEFF") { bic countryCode isHeadOffice valid problems bankData { name } } }`;

  it.each([
    ['is down', {}, 'UPSTREAM_FAILED'],
    ['has no calls left', { BANK_DATA_MONTHLY_ALLOWANCE: '0' }, 'UPSTREAM_ALLOWANCE_EXHAUSTED'],
  ])('(it %s) only the fields from it are null, each with an error', async (_, env, code) => {
    const { ask } = await tScriptedGateway(replyJson(500, {}), env);
    const { data, errors } = await ask(query);
    const failed = { valid: null, problems: null };
    expect(data?.ibanValidation).toMatchObject({ ...local, ...failed, ibanData: null, bankData: null });
    const bic = { bic: 'COBADEFF', countryCode: 'DE', isHeadOffice: true };
    expect(data?.bicValidation).toEqual({ ...bic, ...failed, bankData: null });
    expect(errors?.map(({ path }) => path?.join('.'))).toEqual([
      'ibanValidation.valid',
      'ibanValidation.problems',
      'ibanValidation.ibanData',
      'ibanValidation.bankData',
      'bicValidation.valid',
      'bicValidation.problems',
      'bicValidation.bankData',
    ]);
    for (const { extensions } of errors ?? []) expect(extensions.code).toBe(code);
  });
});

it('too many IBANs are null with an error, and the other fields have their values', async () => {
  const { ask, upstream } = await tScriptedGateway(replyJson(200, { valid: true }));
  const ibans = Array.from({ length: 1_001 }, () => german);
  const query = 'query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { iban } country(code: "DE") { code } }';
  const { data, errors } = await ask(query, { ibans });
  expect(data).toEqual({ ibanValidations: null, country: { code: 'DE' } });
  expect(errors).toMatchObject([{ path: ['ibanValidations'], extensions: { code: 'BAD_USER_INPUT' } }]);
  expect(upstream.calls).toHaveLength(0);
});
