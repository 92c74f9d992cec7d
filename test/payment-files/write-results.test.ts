import { expect, it } from 'vitest';
import { neutralize } from '../../src/payment-files/write-results.ts';

it.each(['=1+1', '+cmd|x', '-2+3|cmd', '@SUM(A1)', '\t=1', '\r=1', '=', "-1'=A1()"])(
  'puts an apostrophe before %j',
  (text) => {
    expect(neutralize(text)).toBe(`'${text}`);
  },
);

it.each(['', '-12.50', '+12,50', '-1.234,56', "-1'000.00", '+49 170 1234567', '-5 %', '1=1', 'a@example.com', "'=1"])(
  'leaves %j as it is',
  (text) => {
    expect(neutralize(text)).toBe(text);
  },
);
