import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { createTimeSlices } from '../../../src/base/async/time-slices.ts';
import { remainingLength, writeJson } from '../../../src/gateway/graphql/request/reply.ts';
import { rounds } from '../../support/random.ts';

const inTimeSlice = createTimeSlices(4);

async function write(value: unknown, maxBytes = 100_000_000): Promise<string | null> {
  const parts = await writeJson(value, { maxBytes, inTimeSlice });
  return parts && Buffer.concat(parts).toString();
}

const long = ['x', 'ä', '"', '\u0001', '😀', '\ud83d', '\u2028'].map((text) => text.repeat(70_001));

it('writes the bytes of JSON.stringify', async () => {
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<unknown>(null, true, 1.5, -0, '', 'text', ...long),
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom('a', 'b', '__proto__', '"'), tie('tree'), { noNullPrototype: false }),
      fc.constant({ none: undefined, list: [undefined, long[0]] }),
    ),
  }));
  await fc.assert(
    fc.asyncProperty(tree, async (value) => {
      if ((await write(value)) !== JSON.stringify(value)) throw new Error('the texts differ');
    }),
    { numRuns: rounds(40), seed: 57 },
  );
});

it.each(long)('never divides a character between two parts of a text', async (text) => {
  for (let shift = 0; shift < 3; shift += 1) {
    const shifted = 'x'.repeat(shift) + text;
    expect((await write(shifted)) === JSON.stringify(shifted)).toBe(true);
  }
});

it('counts bytes, not characters', async () => {
  const texts = Array.from({ length: 100 }, () => 'ä'.repeat(1_000));
  const bytes = Buffer.byteLength(JSON.stringify(texts));
  expect(await write(texts, bytes)).toBe(JSON.stringify(texts));
  expect(await write(texts, bytes - 1)).toBeNull();
});

it('does not read what is after the limit', async () => {
  let read = 0;
  const text = 'x'.repeat(10_000);
  const tree = Array.from({ length: 10_000 }, () => ({
    get text() {
      read += 1;
      return text;
    },
  }));
  expect(await write(tree, 1_000_000)).toBeNull();
  // Once to find its length, and once to write it.
  expect(read).toBeLessThan(2 * 110);
});

it('lets others run between parts', async () => {
  let now = 1_000;
  const slices = createTimeSlices(4);
  let turns = 0;
  let isWritten = false;
  const others = (async () => {
    while (!isWritten) {
      await new Promise((resolve) => setImmediate(resolve));
      turns += 1;
    }
  })();
  const perPart = { inTimeSlice: ((run) => slices(run)) as typeof inTimeSlice, maxBytes: 10_000_000 };
  const clock = () => {
    now += 3;
    return now;
  };
  const spy = vi.spyOn(performance, 'now').mockImplementation(clock);
  const parts = await writeJson(
    Array.from({ length: 1_000 }, () => 'x'.repeat(1_000)),
    perPart,
  );
  spy.mockRestore();
  isWritten = true;
  await others;
  expect(parts?.length).toBeGreaterThan(30);
  expect(turns).toBeGreaterThan((parts?.length ?? 0) / 3);
});

it.each([
  ['many fields', Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field${index}`, null]))],
  ['a long text', { text: 'x'.repeat(32_000) }],
  ['long names', { ['x'.repeat(32_000)]: 1 }],
  ['nested lists', [[Array.from({ length: 6_000 }, () => true)]]],
])('finds that %s are long', (_, value) => {
  expect(remainingLength(value)).toBeLessThan(0);
  expect(remainingLength([1, 'text', { a: null }])).toBeGreaterThan(0);
});
