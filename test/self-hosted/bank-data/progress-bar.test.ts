import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { createProgressBar } from '../../../src/self-hosted/bank-data/progress-bar.ts';

function tStream(isTTY: boolean) {
  const stream = Object.assign(new PassThrough(), { isTTY });
  return { stream: stream as unknown as NodeJS.WriteStream, written: () => String(stream.read() ?? '') };
}

it('shows on a terminal how far the reading is, and is gone at the end', () => {
  const { stream, written } = tStream(true);
  const bar = createProgressBar(stream);
  bar.show({ rows: 0, bytes: 0, size: 2_000 });
  bar.show({ rows: 1_500, bytes: 1_000, size: 2_000 });
  bar.clear();
  expect(written()).toContain('50 % | 1,500 rows');
});

it('does without the size of a pipe', () => {
  const { stream, written } = tStream(true);
  const bar = createProgressBar(stream);
  bar.show({ rows: 1_500, bytes: 1_000, size: null });
  bar.clear();
  expect(written()).toContain('1,500 rows');
});

it.each([
  ['on what is no terminal', false, true],
  ['where reading failed before it began', true, false],
])('writes nothing %s', (_, isTTY, shows) => {
  const { stream, written } = tStream(isTTY);
  const bar = createProgressBar(stream);
  if (shows) bar.show({ rows: 500, bytes: 1_000, size: 2_000 });
  bar.clear();
  expect(written()).toBe('');
});
