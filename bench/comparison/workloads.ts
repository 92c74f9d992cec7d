import { distinctIban } from './distinct-ibans.ts';

/** One kind of request, sent again and again. */
export interface Workload {
  title: string;
  /** The body; `<0>`, `<1>` ... stand for the IBANs that are new in each request. */
  body: string;
  /** How many they are, and so how many upstream calls a request needs. */
  newIbans: number;
  /** Callers at most: 50 with a thousand representations each would measure the queue of the upstream. */
  maxCallers?: number;
  /** The expected `data`. @param ibans the new IBANs, in order */
  expect(ibans: readonly string[]): object;
}

/** The bank of every IBAN. */
export const bank = { name: 'Commerzbank', bic: 'COBADEFFXXX', city: 'Köln' };

const popularIban = 'DE89370400440532013000';
const fields = 'valid iban ibanData{country countryCode bankCode bban} bankData{name bic city}';
const oneQuery = `query($iban:String!){ibanValidation(iban:$iban){${fields}}}`;
const listQuery = `query($ibans:[String!]!){ibanValidations(ibans:$ibans){${fields}}}`;
const entitiesQuery =
  'query($r:[_Any!]!){_entities(representations:$r){... on IbanValidation{valid iban bankData{name}}}}';

export const workloads: Readonly<Record<string, Workload>> = {
  W1: {
    title: 'one IBAN, new in every request',
    body: JSON.stringify({ query: oneQuery, variables: { iban: '<0>' } }),
    newIbans: 1,
    expect: ([iban = '']) => ({ ibanValidation: describeIban(iban) }),
  },
  W2: {
    title: '25 IBANs, new in every request, each twice',
    body: JSON.stringify({ query: listQuery, variables: { ibans: repeat(placeholders(25)) } }),
    newIbans: 25,
    expect: (ibans) => ({ ibanValidations: repeat(ibans).map(describeIban) }),
  },
  W3: {
    title: 'one IBAN, the same in every request',
    body: JSON.stringify({ query: oneQuery, variables: { iban: popularIban } }),
    newIbans: 0,
    expect: () => ({ ibanValidation: describeIban(popularIban) }),
  },
  W4: {
    title: '`{__typename}`',
    body: JSON.stringify({ query: '{__typename}' }),
    newIbans: 0,
    expect: () => ({ __typename: 'Query' }),
  },
  E1: {
    title: '`_entities` with one representation, new in every request',
    body: JSON.stringify({ query: entitiesQuery, variables: { r: represent(placeholders(1)) } }),
    newIbans: 1,
    expect: (ibans) => ({ _entities: ibans.map(describeEntity) }),
  },
  E1000: {
    title: '`_entities` with 1,000 representations of 500 IBANs, new in every request; at most 4 callers',
    body: JSON.stringify({ query: entitiesQuery, variables: { r: represent(repeat(placeholders(500))) } }),
    newIbans: 500,
    maxCallers: 4,
    expect: (ibans) => ({ _entities: repeat(ibans).map(describeEntity) }),
  },
};

/** @returns a function that creates the body of the next request, with new IBANs from `firstIban` on */
export function createBodies(body: string, newIbans: number, firstIban: number): () => string {
  const parts = body.split(/<(\d+)>/);
  let next = firstIban;
  return () => {
    const ibans = Array.from({ length: newIbans }, (_, index) => distinctIban(next + index));
    next += newIbans;
    let text = '';
    for (const [index, part] of parts.entries()) text += index % 2 === 0 ? part : ibans[Number(part)];
    return text;
  };
}

function describeIban(iban: string): object {
  const ibanData = { country: 'Germany', countryCode: 'DE', bankCode: iban.slice(4, 12), bban: iban.slice(4) };
  return { valid: true, iban, ibanData, bankData: bank };
}

function describeEntity(iban: string): object {
  return { valid: true, iban, bankData: { name: bank.name } };
}

function placeholders(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `<${index}>`);
}

function repeat(values: readonly string[]): string[] {
  return [...values, ...values];
}

function represent(ibans: readonly string[]): object[] {
  return ibans.map((iban) => ({ __typename: 'IbanValidation', iban }));
}
