import { describe, expect, it } from 'vitest';
import { guardFormula, toCsv } from '../../examples/web/src/state/list-rows.ts';
import { writeCell } from '../support/check/check.ts';

describe('a cell that a spreadsheet would run', () => {
  it.each(['=1+1', '+A1', '-A1', '@SUM(A1)', '\tx', '\rx', '-12.50', '+49 170', '-5 %', 'a=b', '', '1'])(
    'is written as the command writes it: %j',
    (cell) => {
      expect(guardFormula(cell)).toBe(writeCell(cell));
    },
  );

  it('is quoted after that, as is a cell with a comma, a quotation mark or a line break', () => {
    expect(toCsv([['=A,1', 'a"b', 'c\nd', 'e;f', ' g']])).toBe(`\uFEFF"'=A,1","a""b","c\nd",e;f," g"\r\n`);
  });
});
