import { expect, it } from 'vitest';
import { essayLimits } from '../../../src/gateway/essays/port.ts';
import { registryRelease } from '../../../src/iban/registry-table.ts';
import { tScriptedGateway } from '../../support/gateway.ts';
import { replyJson } from '../../support/scripted-upstream.ts';

/* Clients read the limits from the schema, instead of copying them from the documentation. */

const ibans = (count: number) => Array.from({ length: count }, () => 'XX');

it('has the limits as they are configured, without a call', async () => {
  const env = { MAX_IBANS_PER_QUERY: '7' };
  const { ask, upstream } = await tScriptedGateway(undefined, env);
  const { data } = await ask(`{ limits {
    ibans bics bankQueries suggestions entities essays essayTexts listedOrders storedBytes essayWords essayDescriptionLength essayTitles essayTitleLength ibanRegistry
  } }`);
  expect(data?.limits).toEqual({
    ibans: 7,
    bics: 7,
    bankQueries: 20,
    suggestions: 1_000,
    entities: 1_000,
    essays: 5,
    essayTexts: 20,
    listedOrders: 2_000,
    storedBytes: 32_000_000,
    essayWords: essayLimits.wordCount,
    essayDescriptionLength: essayLimits.description,
    essayTitles: essayLimits.titles,
    essayTitleLength: essayLimits.title,
    ibanRegistry: registryRelease,
  });
  const query = 'query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { valid } limits { ibans } }';
  expect(await ask(query, { ibans: ibans(7) })).toMatchObject({ data: { limits: { ibans: 7 } } });
  const { data: refused, errors } = await ask(query, { ibans: ibans(8) });
  expect(refused).toEqual({ ibanValidations: null, limits: { ibans: 7 } });
  expect(errors).toMatchObject([{ message: expect.stringContaining('at most 7 IBANs'), path: ['ibanValidations'] }]);
  expect(upstream.calls).toHaveLength(0);
});

const fields = '... on InvalidEssayInput { fields { name reason min max } }';
const mutation = `mutation ($input: GenerateEssayInput!) { generateEssay(input: $input) { ${fields} } }`;

it.each([
  [{ wordCount: 2_001 }, { name: 'wordCount', reason: 'OUT_OF_RANGE', min: 1, max: 2_000 }],
  [{ description: ' ' }, { name: 'description', reason: 'REQUIRED', min: 1, max: 10_000 }],
  [{ description: 'd'.repeat(10_001) }, { name: 'description', reason: 'TOO_LONG', min: 1, max: 10_000 }],
  [{ titles: Array(21).fill('A') }, { name: 'titles', reason: 'TOO_MANY', min: 0, max: 20 }],
  [{ titles: ['t'.repeat(201)] }, { name: 'titles', reason: 'TOO_LONG', min: 1, max: 200 }],
  [{ idempotencyKey: '' }, { name: 'idempotencyKey', reason: 'REQUIRED', min: 1, max: 200 }],
])('says why a field of an order is invalid, in a form for programs: %#', async (change, problem) => {
  const { ask, upstream } = await tScriptedGateway();
  const { data } = await ask(mutation, { input: { description: 'Pens', wordCount: 9, ...change } });
  expect(data?.generateEssay).toEqual({ fields: [problem] });
  expect(upstream.calls).toHaveLength(0);
});

it('says that a key was used for a different order', async () => {
  const { ask, upstream } = await tScriptedGateway(replyJson(200, { essay: 'A pen holds ink. It writes.' }));
  const input = { description: 'Pens', wordCount: 9, idempotencyKey: 'form-1' };
  await ask(mutation, { input });
  const { data } = await ask(mutation, { input: { ...input, wordCount: 10 } });
  const reused = { name: 'idempotencyKey', reason: 'KEY_REUSED', min: null, max: null };
  expect(data?.generateEssay).toEqual({ fields: [reused] });
  expect(upstream.calls).toHaveLength(1);
});
