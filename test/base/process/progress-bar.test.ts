import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { createProgressBar } from '../../../src/base/process/progress-bar.ts';
import { readAll } from '../../support/command.ts';

function tTerminal(isTTY: boolean) {
  const stream = Object.assign(new PassThrough(), { isTTY });
  return { stream: stream as unknown as NodeJS.WriteStream, written: () => readAll(stream) };
}

it.each([
  ['seconds', 2, '25 % | 10,000 rows | 5,000 rows/s | 6 s left'],
  ['minutes', 100, '25 % | 10,000 rows | 100 rows/s | 5 min left'],
  ['hours', 10_000, '25 % | 10,000 rows | 1 row/s | 8 h left'],
])('shows rows, rate and time left on a terminal, in %s', (_, seconds, expected) => {
  let now = 0;
  const { stream, written } = tTerminal(true);
  const bar = createProgressBar(stream, 'checking', () => now);
  now = seconds * 1_000;
  bar.show({ rows: 10_000, bytes: 250, size: 1_000 });
  bar.clear();
  expect(written()).toContain(expected);
});

it('names what is counted', () => {
  const { stream, written } = tTerminal(true);
  const bar = createProgressBar(stream, 'checking', () => 1_000);
  bar.show({ rows: 10, noun: 'transaction', bytes: 250, size: 1_000 });
  bar.clear();
  expect(written()).toContain('10 transactions');
});

it('shows no time left without a size, as of standard input', () => {
  const { stream, written } = tTerminal(true);
  const bar = createProgressBar(stream, 'checking', () => 1_000);
  bar.show({ rows: 10, bytes: 250, size: null });
  bar.clear();
  const text = written();
  expect(text).toContain('10 rows');
  expect(text).not.toContain('left');
});

it('writes nothing without a terminal, or if nothing is shown', () => {
  for (const isTTY of [false, true]) {
    const { stream, written } = tTerminal(isTTY);
    const bar = createProgressBar(stream, 'checking');
    if (!isTTY) bar.show({ rows: 1, bytes: 1, size: 2 });
    bar.clear();
    expect(written()).toBe('');
  }
});
