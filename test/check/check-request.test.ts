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

it.each([
  ['an unknown profile', 'profile=other', 'The profile must be one of auto, iso, sepa, dk, sps.'],
  [
    'a parameter given twice',
    'column=A&column=B',
    'The parameters of the URL can be column, bicColumn, nameColumn, encoding, profile, each once.',
  ],
])('%s is refused', (_, search, message) => {
  expect(readCheckRequest(headers, search)).toMatchObject({ status: 400, message });
});
