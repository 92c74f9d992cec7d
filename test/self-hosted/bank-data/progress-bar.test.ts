import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { createProgressBar } from '../../../src/self-hosted/bank-data/import-output.ts';

function tStream(isTTY: boolean) {
  const stream = Object.assign(new PassThrough(), { isTTY });
  return { stream: stream as unknown as NodeJS.WriteStream, written: () => String(stream.read() ?? '') };
}

it('shows the progress on a terminal', () => {
  const { stream, written } = tStream(true);
  const bar = createProgressBar(stream);
  bar.show({ rows: 1, bytes: 0, size: 2_000 });
  expect(written()).toContain('0 % | 1 row\u001b');
  bar.show({ rows: 1_500, bytes: 1_000, size: 2_000 });
  bar.clear();
  expect(written()).toContain('50 % | 1,500 rows');
});

it('works without a size, for a pipe', () => {
  const { stream, written } = tStream(true);
  const bar = createProgressBar(stream);
  bar.show({ rows: 1_500, bytes: 1_000, size: null });
  bar.clear();
  expect(written()).toContain('1,500 rows');
});

it.each([
  ['without a terminal', false, true],
  ['if reading fails before it starts', true, false],
])('writes nothing %s', (_, isTTY, shows) => {
  const { stream, written } = tStream(isTTY);
  const bar = createProgressBar(stream);
  if (shows) bar.show({ rows: 500, bytes: 1_000, size: 2_000 });
  bar.clear();
  expect(written()).toBe('');
});
