import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createBankDirectory } from '../../src/bank-data-service/bank-directory.ts';
import { createBankLists } from '../../src/banks/bank-lists.ts';
import { createKnownBanks } from '../../src/banks/known-banks.ts';
import { createSortedText } from '../../src/banks/sorted-text.ts';
import { collectGarbage } from '../support/measure.ts';

const key = fc.string({ unit: fc.constantFrom(...'019AŁ'), maxLength: 4 });

it('a sorted text finds each key, and only those, as a map does', () => {
  const pairs = fc.array(fc.tuple(key, fc.string({ unit: fc.constantFrom(...'a\t0') })));
  fc.assert(
    fc.property(pairs, fc.array(key), (values, others) => {
      const map = new Map(values);
      const text = createSortedText(values);
      const keys = [...map.keys(), ...others];
      expect(keys.map(text.get)).toEqual(keys.map((key) => map.get(key)));
      expect(text.lines()).toEqual([...map].sort(([a], [b]) => (a < b ? -1 : 1)).map((pair) => pair.join('\t')));
    }),
  );
});

it('the lists of all countries take at most 8 MiB in the gateway and the self-hosted service together', () => {
  const measure = () => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return (heapUsed + external) / 1_048_576;
  };
  const load = () => {
    const lists = createBankLists();
    const banks = createKnownBanks(lists);
    const directory = createBankDirectory();
    for (const country of lists.countries()) {
      banks.has(country, '1');
      banks.bics(country, '1');
    }
    banks.ibanRule('1');
    directory.listBanks({ search: 'bank' });
    directory.findIbanRule('1');
    return { banks, directory };
  };
  load();
  const before = measure();
  const loaded = load();
  expect(measure() - before).toBeLessThan(8);
  expect(loaded.banks.has('DE', '37040044') && loaded.directory.findBankByBic('COBADEFF')).toBeTruthy();
});
