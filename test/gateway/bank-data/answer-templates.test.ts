import { expect, it } from 'vitest';
import type { IbanValidation } from '../../../src/gateway/bank-data/bank-data.ts';
import { createAnswerTemplates, createLookUpTable } from '../../../src/gateway/bank-data/look-up-table.ts';
import { locateFields } from '../../../src/iban/build-iban.ts';
import { calcCheckDigits } from '../../../src/iban/mod97.ts';
import { countryFormats, findCountryFormat, type Span } from '../../../src/iban/registry.ts';
import { collectGarbage } from '../../support/collect-garbage.ts';

const commerzbank = {
  bankCode: '37040044',
  countryCode: 'DE',
  name: 'Commerzbank',
  address: null,
  zip: '50447',
  city: 'Köln',
  bic: 'COBADEFFXXX',
  bicSource: 'NATIONAL_LIST',
  status: 'LISTED',
  successor: null,
  source: 'Deutsche Bundesbank',
  date: '2026-09-07',
} as const;

/** As a service would answer about this BBAN; all texts are new ones, as from a response. */
function validationOf(country: string, bban: string): IbanValidation {
  const format = findCountryFormat(country);
  if (!format) throw new Error(`There is no country ${country}.`);
  const checksum = calcCheckDigits(country, bban);
  const part = (span: Span | null | undefined) => (span ? bban.slice(span.first - 1, span.last) : null);
  const field = (name: string) => part(locateFields(format).find((each) => each.name === name)?.span);
  return JSON.parse(
    JSON.stringify({
      iban: country + checksum + bban,
      valid: true,
      problems: [],
      ibanData: {
        country: `The country ${country}`,
        countryCode: country,
        sepaCountry: format.sepa,
        checksum,
        bban,
        bankCode: part(format.bankCode),
        accountNumber: field('accountNumber'),
        branch: field('branch'),
        nationalChecksum: part(format.nationalCheckDigits),
        countryIbanFormatAsSwift: format.format,
        countryIbanFormatAsRegex: format.regex.source,
      },
      bankData: { ...commerzbank, bankCode: part(format.bankCode) },
    } satisfies IbanValidation),
  ) as IbanValidation;
}

function changed(answer: IbanValidation, path: string, value: unknown): IbanValidation {
  const copy = structuredClone(answer);
  const [last = '', ...names] = path.split('.').reverse();
  const owner = names.reduce((part, name) => part[name as keyof typeof part] as never, copy as object);
  Object.assign(owner, { [last]: value });
  return copy;
}

/** The template that this answer would be kept as. */
function templateOf(answer: IbanValidation, findTemplate = createAnswerTemplates(10)) {
  findTemplate(answer.iban, answer);
  findTemplate(answer.iban, answer);
  return findTemplate(answer.iban, structuredClone(answer));
}

it('restores an answer of each country, also by the template of another account', () => {
  const findTemplate = createAnswerTemplates(1_000);
  for (const { country, example } of countryFormats()) {
    const bban = example.slice(4);
    for (const other of [bban, `${bban.slice(0, -3)}271`, `${bban.slice(0, -3)}828`]) {
      const answer = validationOf(country, other);
      expect(templateOf(answer, findTemplate)?.restore(answer.iban)).toEqual(answer);
    }
  }
});

it('has a template from the second answer of a bank on: a bank with a single one has none', () => {
  const findTemplate = createAnswerTemplates(10);
  const answers = ['0532013000', '0532013001', '0532013002'].map((account) => validationOf('DE', `37040044${account}`));
  const [first, second, third] = answers.map((answer) => findTemplate(answer.iban, answer));
  expect([first, second]).toEqual([null, null]);
  expect(third?.restore(answers[2]?.iban ?? '')).toEqual(answers[2]);
});

it('has one template for all accounts of a bank, without the parts of any', () => {
  const findTemplate = createAnswerTemplates(10);
  const template = templateOf(validationOf('DE', '370400440987654321'), findTemplate);
  for (const account of ['0532013001', '0000000000', '3704004437']) {
    const answer = validationOf('DE', `37040044${account}`);
    expect(findTemplate(answer.iban, answer)).toBe(template);
  }
  expect(templateOf(validationOf('DE', '500105170648489890'), findTemplate)).not.toBe(template);
  const common = JSON.stringify(template?.restore('DE00________0000000000'));
  expect(common).toMatch(/Commerzbank/);
  expect(common).not.toMatch(/987654321/);
});

it('restores every value of an answer that differs from the others of its bank', () => {
  const findTemplate = createAnswerTemplates(10);
  const usual = validationOf('DE', '370400440532013000');
  const paths = Object.entries({ ...usual, ...usual.ibanData }).flatMap(([name, value]) => {
    if (typeof value === 'object' || ['iban', 'valid'].includes(name)) return [];
    return [name in usual ? name : `ibanData.${name}`];
  });
  paths.push(...Object.keys(commerzbank).map((name) => `bankData.${name}`));
  paths.push('ibanData.branch', 'ibanData.nationalChecksum');
  expect(paths).toHaveLength(23);
  for (const path of paths) {
    const values = path === 'ibanData.sepaCountry' ? [false, null] : ['another', '37', '', null];
    for (const value of values) {
      // Never null in an answer, or null in the usual one.
      if (value === null && /countryCode|address|checksum|bban|branch|national|status|successor/.test(path)) continue;
      const answer = changed(usual, path, value);
      expect(templateOf(usual, findTemplate)?.fits(answer as never)).toBe(false);
      expect(templateOf(answer, findTemplate)?.restore(answer.iban)).toEqual(answer);
    }
  }
});

it('has no template for an answer without its parts or bank, for a rejected one, or for one of another shape', () => {
  const usual = validationOf('DE', '370400440532013000');
  const texts = ['ibanData.bban', 'ibanData.checksum', 'ibanData.branch', 'bankData.name'];
  const others: object[] = [
    changed(usual, 'valid', false),
    changed(usual, 'problems', ['REJECTED_BY_SERVICE']),
    changed(usual, 'ibanData', null),
    changed(usual, 'ibanData', 'none'),
    changed(usual, 'bankData', null),
    ...texts.flatMap((path) => [undefined, 7, {}].map((value) => changed(usual, path, value))),
    { bic: 'COBADEFFXXX', valid: true, problems: [], bank: null },
    { kind: 'iban', validation: usual },
    { banks: [], next: null, total: 0 },
  ];
  expect(others.map((answer) => templateOf(answer as IbanValidation))).toEqual(others.map(() => null));
  expect(templateOf(usual)).not.toBeNull();
  // Nor for one that is kept under another key than its IBAN.
  const findTemplate = createAnswerTemplates(10);
  expect([findTemplate('another', usual), findTemplate('another', usual)]).toEqual([null, null]);
});

it('has no template for an answer with a long text', () => {
  const usual = validationOf('DE', '370400440532013000');
  for (const path of ['bankData.name', 'ibanData.country']) {
    expect(templateOf(changed(usual, path, 'x'.repeat(100)))).not.toBeNull();
    expect(templateOf(changed(usual, path, 'x'.repeat(101)))).toBeNull();
  }
});

it('keeps no more templates than it may, those of the banks asked about last', () => {
  const findTemplate = createAnswerTemplates(2);
  const [one, two, three] = ['37040044', '50010517', '10000000'].map((code) => validationOf('DE', `${code}0532013000`));
  if (!one || !two || !three) throw new Error('Three answers are needed.');
  const [first] = [one, two].map((answer) => templateOf(answer, findTemplate));
  expect(findTemplate(one.iban, structuredClone(one))).toBe(first);
  findTemplate(three.iban, three);
  expect(findTemplate(one.iban, one)).toBe(first);
  expect(findTemplate(two.iban, two)).toBeNull();
});

it('takes a small part of the memory, and less of the limit, for 20,000 answers of one bank', () => {
  const times = { freshUntil: 2e12 + 0.5, staleUntil: 3e12 + 0.5, lastPurge: 0 };
  const { result: table, addedBytes } = measureMemory(() => {
    const table = createLookUpTable(10e6);
    for (let account = 0; account < 20_000; account += 1) {
      const answer = validationOf('DE', `37040044${String(account).padStart(10, '0')}`);
      table.set(answer.iban, { answer: { ...answer }, ...times });
    }
    return table;
  });
  const { entries, bytes } = table.status();
  expect(entries).toBe(20_000);
  // The answers themselves would take more than 800 bytes each.
  expect(addedBytes / entries).toBeLessThan(300);
  expect(bytes / entries).toBeGreaterThan(0.8 * (addedBytes / entries));
  const { iban } = validationOf('DE', '370400440000012345');
  expect(table.get(iban)).toEqual({ answer: validationOf('DE', '370400440000012345'), ...times });
});

function measureMemory<Result>(create: () => Result): { result: Result; addedBytes: number } {
  const before = memoryInUse();
  const result = create();
  return { result, addedBytes: memoryInUse() - before };
}

/** Columns of numbers are array buffers. */
function memoryInUse(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
