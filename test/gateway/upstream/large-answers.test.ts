import { describe, expect, it } from 'vitest';
import { tGateway } from '../../support/gateway.ts';
import { replyText, tUpstream } from '../../support/scripted-upstream.ts';
import { seenIbanValidation } from '../../support/self-hosted.ts';

/* What a service may send: a response is decoded, redacted and parsed in one go. */

const lookUp = '{ ibanValidation(iban: "DE89370400440532013000") { valid } }';
const order = `mutation { generateEssay(input: { description: "Pens", wordCount: 100 }) {
  __typename ... on Essay { text } ... on EssayServiceFailed { message } } }`;

/** A body of exactly this size: the fields, and white space, which is valid after JSON. */
const fill = (fields: object, bytes: number) => {
  const json = JSON.stringify(fields);
  return json + ' '.repeat(bytes - Buffer.byteLength(json));
};

it.each([
  [250_000, { data: { ibanValidation: { valid: true } } }],
  [250_001, { errors: [{ message: expect.stringContaining('returned a response that is too large') }] }],
])('a look-up may have 250 kB: %i bytes', async (bytes, expected) => {
  const upstream = await tUpstream(replyText(200, fill(seenIbanValidation, bytes)));
  expect(await tGateway({ bankDataUrl: upstream.url }).ask(lookUp)).toMatchObject(expected);
});

it.each([
  [500_000, { __typename: 'Essay', text: 'Pens are useful.' }],
  [500_001, { message: expect.stringContaining('returned a response that is too large') }],
])('an essay may have 500 kB: %i bytes', async (bytes, expected) => {
  const upstream = await tUpstream(replyText(200, fill({ essay: 'Pens are useful.' }, bytes)));
  const { data } = await tGateway({ essaysUrl: upstream.url }).ask(order);
  expect(data?.generateEssay).toMatchObject(expected);
});

describe('a response is not parsed, and not an answer', () => {
  it.each([
    ['with 60,000 objects', `{"valid":true,"more":[${Array(60_000).fill('{}')}]}`],
    [
      'that is nested 200 levels deep',
      `{"valid":true,"more":${'['.repeat(200)}"${'x'.repeat(10_000)}"${']'.repeat(200)}}`,
    ],
  ])('%s', async (_, body) => {
    const upstream = await tUpstream(replyText(200, body));
    const { data, errors } = await tGateway({ bankDataUrl: upstream.url }).ask(lookUp);
    expect([data?.ibanValidation?.valid, errors?.[0]?.extensions.code]).toEqual([null, 'UPSTREAM_FAILED']);
  });

  it('if a number in it is a key', async () => {
    const upstream = await tUpstream(replyText(200, '{"valid":true,"key":1234567890}'));
    const env = { STORE_SECRET: '1234567890'.repeat(4) };
    const bankDataUrl = upstream.url;
    expect(await tGateway({ bankDataUrl, env }).ask(lookUp)).toMatchObject({
      data: { ibanValidation: { valid: true } },
    });
    upstream.answers(replyText(200, `{"valid":true,"key":${env.STORE_SECRET}}`));
    const { data, errors } = await tGateway({ bankDataUrl, env }).ask(lookUp);
    expect([data?.ibanValidation?.valid, errors?.[0]?.extensions.code]).toEqual([null, 'UPSTREAM_FAILED']);
  });
});
