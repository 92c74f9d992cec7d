import { expect, it } from 'vitest';
import { readRetryAfter } from '../../src/upstream/retry-after.ts';

const now = new Date('2026-11-21T12:00:00Z');

it.each([
  ['120', '2026-11-21T12:02:00.000Z'],
  ['0', '2026-11-21T12:00:00.000Z'],
  [' 5 ', '2026-11-21T12:00:05.000Z'],
  [['30', '60'], '2026-11-21T12:00:30.000Z'],
  ['Tue, 01 Dec 2026 00:00:00 GMT', '2026-12-01T00:00:00.000Z'],
])('reads Retry-After: %s', (header, at) => {
  expect(readRetryAfter(header, now)?.toISOString()).toBe(at);
});

it.each([undefined, '', 'soon', '-5', '99999999999999'])('says nothing where Retry-After is %j', (header) => {
  expect(readRetryAfter(header, now)).toBeNull();
});
