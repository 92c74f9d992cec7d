import { expect, it } from 'vitest';
import { bankDataKey, essaysKey, tGateway } from '../../support/gateway.ts';
import { replyText, replyTruncated, tUpstream } from '../../support/scripted-upstream.ts';
import { seenIbanValidation } from '../../support/self-hosted.ts';

/* Keys that a service echoes: test/base/redact.test.ts has the forms in which they are found. */

const essayMutation = `mutation { generateEssay(input: { description: "Pens", wordCount: 100 }) {
  ... on Essay { text } ... on EssayServiceFailed { message rawText } ... on InvalidEssayInput { message } } }`;

it('the key of the bank-data service does not appear in a bank name, nor in the log', async () => {
  const body = JSON.stringify(seenIbanValidation).replace('"Commerzbank"', `"<${bankDataKey}>"`);
  const { ask, log } = tGateway({ bankDataUrl: (await tUpstream(replyText(200, body))).url });
  const answer = JSON.stringify(await ask('{ ibanValidation(iban: "DE89370400440532013000") { bankData { name } } }'));
  expect(answer).toContain('"name":"<[hidden]>"');
  expect(answer + log()).not.toContain(bankDataKey);
});

it.each([
  ['an essay', replyText(200, `{"essay":"<${essaysKey}>"}`)],
  ['the raw text of a response that cannot be read', replyText(200, `<${essaysKey}>`)],
  ['the raw text of a truncated response', replyTruncated(`{"essay":"<${essaysKey.slice(0, -3)}`)],
  ['an error message', replyText(400, `{"error":"<${essaysKey}>"}`)],
])('the key of the essay service does not appear in %s, nor in the log', async (_, reply) => {
  const { ask, log } = tGateway({ essaysUrl: (await tUpstream(reply)).url });
  const answer = JSON.stringify(await ask(essayMutation));
  expect(answer).toContain('[hidden]');
  expect(answer + log()).not.toContain(essaysKey.slice(0, -3));
});
