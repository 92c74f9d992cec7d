import { expect, it } from 'vitest';
import { tListeningGateway } from '../../../support/gateway/http/listening-gateway.ts';
import { bankDataKey } from '../../../support/gateway.ts';
import { noUpstreams, tGatewayProcess } from '../../../support/gateway-process.ts';
import { replyAsHosted } from '../../../support/hosted-bank-data.ts';
import { tUpstream } from '../../../support/scripted-upstream.ts';

it('answers the same where V8 may not generate code', async () => {
  const upstream = await tUpstream((response, call) => replyAsHosted(call)(response, call));
  const { origin } = await tListeningGateway({}, upstream);
  const ordinary = await askRepeatedly(origin);
  expect(ordinary[0]).toContain('"name":"Germany"');
  expect(ordinary[0]).toContain('"valid":true');
  const NODE_OPTIONS = '--disallow-code-generation-from-strings';
  const bankData = { BANK_DATA_URL: upstream.url, BANK_DATA_API_KEY: bankDataKey };
  const restricted = await tGatewayProcess({ ...noUpstreams, ...bankData, NODE_OPTIONS });
  expect(await askRepeatedly(restricted.origin)).toEqual(ordinary);
  expect(restricted.process.stderr()).not.toContain('unexpected error');
});

async function askRepeatedly(origin: string): Promise<string[]> {
  const query = `query ($names: Boolean!) { country(code: "DE") { code name @include(if: $names) } banks(first: 0) { totalCount }
    ibanValidations(ibans: ["x", "DE89370400440532013000"]) { valid problems suggestions } }`;
  const answers: string[] = [];
  for (let count = 0; count < 10; count += 1) {
    const body = JSON.stringify({ query, variables: { names: true } });
    const headers = { 'content-type': 'application/json', 'x-request-id': 'request' };
    const response = await fetch(`${origin}/graphql`, { method: 'POST', headers, body });
    answers.push(`${response.status} ${await response.text()}`);
  }
  return answers;
}
