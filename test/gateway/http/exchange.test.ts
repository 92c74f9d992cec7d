import { expect, it } from 'vitest';
import { createRequestIds } from '../../../src/gateway/http/exchange.ts';

it('gives each request an id of 12 characters, which differs from those of other processes', () => {
  const readers = Array.from({ length: 20 }, createRequestIds);
  const ids = readers.flatMap((read) => Array.from({ length: 350 }, () => read(undefined)));
  for (const id of ids) expect(id).toMatch(/^\d{3}[\da-z]{9}$/);
  expect(new Set(ids).size).toBe(ids.length);
});

it('uses the id of a client if it is short and has no spaces', () => {
  const read = createRequestIds();
  for (const id of ['a', 'trace:7.f-1', 'x'.repeat(128)]) expect(read(id)).toBe(id);
  for (const header of ['', 'a b', 'a\n', 'x'.repeat(129), ['a', 'b']]) expect(read(header)).toMatch(/^\d[\da-z]{11}$/);
});
