import { expect, it } from 'vitest';
import { readCheckRequest } from '../../src/check/endpoint/request.ts';

/* What the headers and the URL of POST /check ask for. */

const headers = { 'content-type': 'application/xml' };

it.each([
  ['', 'auto'],
  ['profile=dk', 'dk'],
  ['profile=iso', 'iso'],
])('?%s judges payment messages by the profile %s', (search, profile) => {
  expect(readCheckRequest(headers, search)).toMatchObject({ profile });
});

it('an unknown profile is refused', () => {
  expect(readCheckRequest(headers, 'profile=other')).toMatchObject({
    status: 400,
    message: 'The profile must be one of auto, iso, sepa, dk, sps.',
  });
});
