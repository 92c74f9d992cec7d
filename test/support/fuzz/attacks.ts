import { repeat } from '../gateway/graphql/repeat.ts';

const bomb = `{ country(code: "FR") { ...F0 } } ${repeat(6, (level) => {
  const field = level % 2 ? 'parent' : 'territories';
  return `fragment F${level} on IbanCountry { ${repeat(4, (alias) => `a${alias}: ${field} { ...F${level + 1} }`)} }`;
})} fragment F6 on IbanCountry { code }`;

const entities = (padding: string) =>
  `query ($list: [_Any!]!) { ${padding} _entities(representations: $list) { __typename ... on IbanCountry { code name } } }`;
const list = (length: number, item: unknown) => ({ list: Array.from({ length }, () => item) });
const lists = `query ($list: [String!]!) { ${repeat(48, (index) => `l${index}: ibanValidations(ibans: $list) { iban }`)} }`;
const order = 'query ($list: GenerateIbanInput!) { generateIban(input: $list) { __typename } }';
const fields = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`field${index}`, 1]));

const long = 'x'.repeat(900_000);
const text = (before: string, count: number, field: string, after = '') =>
  `query ($text: String!) { ${before} ${repeat(count, (index) => `a${index}: ${field}`)}${after} }`;
const generateIban =
  'generateIban(input: { country: "DE", bankCode: $text, branch: $text, accountNumber: $text }) { __typename }';
const suggestions = (count: number) =>
  `query ($list: [String!]!) { ibanValidations(ibans: $list) { ${repeat(count, (index) => `a${index}: suggestions`)} } }`;
const wrongIbans = Array.from({ length: 1_000 }, (_, index) => `DE893704004405320${String(index).padStart(5, '0')}`);

/** Requests that would take seconds or gigabytes without limits: name, query and variables. */
export const attacks: [string, string, Record<string, unknown>?][] = [
  ['a bomb of aliases and fragments', bomb],
  ['half a million fields', `{ ${repeat(300, (index) => `c${index}: countries { name territories { name } }`)} }`],
  ['the largest response', `{ ${repeat(300, (index) => `c${index}: countries { code name isSepa }`)} }`],
  ['1,000 wrong entities behind 400,000 lines', entities('\n'.repeat(400_000)), list(1_000, { __typename: 'Payee' })],
  ['1,000 wrong entities behind 4,900 lines', entities('\n'.repeat(4_900)), list(1_000, { __typename: 'Payee' })],
  ['300 failing fields', `{ ${repeat(300, (index) => `p${index}: banks(first: 0) { totalCount }`, '\n'.repeat(10))} }`],
  ['1,500 wrong fields', `{ ${repeat(1_500, (index) => `f${index}`, '\n\n\n')} }`],
  ['50,000 entities', entities(''), list(50_000, { __typename: 'IbanCountry', code: 'DE' })],
  ['48 lists of 1,000 IBANs', lists, list(1_000, 'XX')],
  ['2,400 brackets', repeat(2_400, () => '{ a', '')],
  ['50,000 fields of a variable', order, { list: fields }],
  ['300 aliases of a long IBAN', text('ibanValidation(iban: $text) {', 300, 'iban', ' }'), { text: long }],
  ['20 generated IBANs of long fields', text('', 20, generateIban), { text: long }],
  ['50 long country codes', text('', 50, 'country(code: $text) { name }'), { text: long }],
  ['20 searches of 3,500 words', text('', 20, 'banks(search: $text) { totalCount }'), { text: 'a '.repeat(3_500) }],
  ['60,000 suggestions', suggestions(60), list(1_000, 'XX')],
  ['suggestions of 1,000 IBANs', suggestions(1), { list: wrongIbans }],
  ['a long alias of 1,000 entries', suggestions(1).replace('a0', 'a'.repeat(90_000)), list(1_000, 'XX')],
];
