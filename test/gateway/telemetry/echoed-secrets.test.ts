import { describe, expect, it } from 'vitest';
import { coreOf, formsOf } from '../../support/gateway/telemetry/secret-forms.ts';
import { bankDataKey, essaysKey, tGateway } from '../../support/gateway.ts';
import { seenIbanValidation } from '../../support/hosted-bank-data.ts';
import { replyText, replyTruncated, tUpstream } from '../../support/scripted-upstream.ts';

const ibanQuery = '{ ibanValidation(iban: "DE89370400440532013000") { valid bankData { name } } }';
const essayMutation = `mutation { generateEssay(input: { description: "Pens", wordCount: 100 }) {
  ... on Essay { text } ... on EssayServiceFailed { message rawText } ... on InvalidEssayInput { message } } }`;

/** Whether a text contains the secret, also after its escapes are decoded. */
function contains(text: string, echo: string, secret: string): boolean {
  const decoded = text
    .replace(/\\+u([0-9a-f]{4})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/%([0-9a-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  return text.includes(coreOf(echo)) || decoded.includes(secret);
}

describe.each(formsOf(bankDataKey))('the key of the bank-data service %s', (_, echo) => {
  it('does not appear in a bank name, nor in the log', async () => {
    const body = JSON.stringify(seenIbanValidation).replace('"Commerzbank"', `"<${echo}>"`);
    const { ask, log } = tGateway({ bankDataUrl: (await tUpstream(replyText(200, body))).url });
    const answer = JSON.stringify(await ask(ibanQuery));
    expect(answer).toMatch(/"name":"<.{0,4}\[hidden\].{0,8}>"/);
    expect(contains(answer + log(), echo, bankDataKey)).toBe(false);
  });
});

describe.each(formsOf(essaysKey))('the key of the essay service %s', (_, echo) => {
  it.each([
    ['an essay', replyText(200, `{"essay":"<${echo}>"}`)],
    ['the raw text of a response that cannot be read', replyText(200, `<${echo}>`)],
    ['the raw text of a truncated response', replyTruncated(`{"essay":"<${echo.slice(0, -6)}`)],
    ['an error message', replyText(400, `{"error":"<${echo}>"}`)],
  ])('does not appear in %s, nor in the log', async (_, reply) => {
    const { ask, log } = tGateway({ essaysUrl: (await tUpstream(reply)).url });
    const answer = JSON.stringify(await ask(essayMutation));
    expect(answer).toContain('[hidden]');
    expect(contains(answer + log(), echo, essaysKey)).toBe(false);
  });
});
