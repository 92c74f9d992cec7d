import { describe, expect, it } from 'vitest';
import { distinctIban } from '../../bench/comparison/distinct-ibans.ts';
import { formatResults, type Result } from '../../bench/comparison/results.ts';
import { createBodies } from '../../bench/comparison/workloads.ts';
import { scriptedIban } from '../../bench/scripted-ibans.ts';

describe('the IBANs of the benchmark', () => {
  it.each([0, 1, 96, 97, 12_345, 9_999_999_999])('are valid: number %i', (number) => {
    expect(distinctIban(number)).toBe(scriptedIban('answer', number));
  });

  it('are new in each request, at their places in the body', () => {
    const createBody = createBodies('[<0>,<1>,<0>]', 2, 7);
    expect(createBody()).toBe(`[${distinctIban(7)},${distinctIban(8)},${distinctIban(7)}]`);
    expect(createBody()).toBe(`[${distinctIban(9)},${distinctIban(10)},${distinctIban(9)}]`);
  });
});

describe('the table of results', () => {
  const tResult = (server: string, round: number, requestsPerSecond: number, workload = 'W1'): Result => {
    const memory = { memoryMib: Number.NaN, firstAnswerMs: 100 };
    return { workload, server, round, requestsPerSecond, p50Ms: 1, p99Ms: 2, cpuUs: 50, callsPerRequest: 1, ...memory };
  };
  const readRows = (results: readonly Result[]) =>
    formatResults(results)
      .trim()
      .split('\n')
      .slice(2)
      .map((row) => row.split('|').map((cell) => cell.trim()))
      .map(([, workload, server, rate, ratio]) => [workload, server, rate, ratio]);

  it('has medians, and the median of the ratios to the limit of the same round', () => {
    const rates = [100, 1_000, 400].map((rate, round) => tResult('limit', round, rate));
    const own = [50, 900, 100].map((rate, round) => tResult('gateway', round, rate));
    expect(readRows([...rates, ...own])).toEqual([
      ['W1', 'limit', '400', '1.00'],
      ['W1', 'gateway', '100', '0.50'],
    ]);
  });

  it('compares with the constant response where it was measured', () => {
    const rates = Object.entries({ limit: 200, constant: 400, gateway: 100 });
    expect(
      readRows(rates.map(([server, rate]) => tResult(server, 1, rate, 'W3'))).map(([, , , ratio]) => ratio),
    ).toEqual(['0.50', '1.00', '0.25']);
  });

  it('has a dash where nothing is known', () => {
    expect(formatResults([tResult('gateway', 1, 100)])).toMatch(/\| - +\|.*\| - +\|/);
  });
});
