import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { bankDataKey } from '../../../support/gateway.ts';
import { replyAsHosted } from '../../../support/hosted-bank-data.ts';
import { tScript } from '../../../support/process.ts';
import { tUpstream, type Upstream } from '../../../support/scripted-upstream.ts';

it('answers the same where V8 may not generate code', { timeout: 120_000 }, async () => {
  const upstream = await tUpstream((response, call) => replyAsHosted(call)(response, call));
  const ordinary = await askRepeatedly(upstream, '');
  const restricted = await askRepeatedly(upstream, '--disallow-code-generation-from-strings');
  expect(ordinary[0]).toContain('"name":"Germany"');
  expect(ordinary[0]).toContain('"valid":true');
  expect(restricted).toEqual(ordinary);
});

async function askRepeatedly({ url }: Upstream, flags: string): Promise<string[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'ledgerquill-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const upstreams = { BANK_DATA_URL: url, BANK_DATA_API_KEY: bankDataKey, ESSAY_URL: url, ESSAY_API_KEY: bankDataKey };
  const gateway = tScript('src/cli/main.ts', { ...upstreams, NODE_OPTIONS: flags, PORT: '0', DATA_DIR: dataDir });
  const [, graphql = ''] = await gateway.printed(/GraphiQL +(\S+\/graphql)\n/);
  const query = `query ($names: Boolean!) { country(code: "DE") { code name @include(if: $names) } banks(first: 0) { totalCount }
    ibanValidations(ibans: ["x", "DE89370400440532013000"]) { valid problems suggestions } }`;
  const answers: string[] = [];
  for (let count = 0; count < 10; count += 1) {
    const body = JSON.stringify({ query, variables: { names: true } });
    const headers = { 'content-type': 'application/json', 'x-request-id': 'request' };
    const response = await fetch(graphql, { method: 'POST', headers, body });
    answers.push(`${response.status} ${await response.text()}`);
  }
  expect(gateway.stderr()).not.toContain('unexpected error');
  gateway.kill('SIGTERM');
  expect(await gateway.ended).toEqual({ code: 0, signal: null });
  return answers;
}
