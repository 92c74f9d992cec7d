import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tListeningGateway } from '../support/gateway/http/listening-gateway.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { bankDataKey } from '../support/gateway.ts';
import { noUpstreams, tGatewayProcess } from '../support/process.ts';
import { tUpstream } from '../support/scripted-upstream.ts';
import { replyAsHosted } from '../support/self-hosted.ts';

it('a process answers the same where V8 may not generate code, and does not load OpenTelemetry without traces', async () => {
  const upstream = await tUpstream((response, call) => replyAsHosted(call)(response, call));
  const { origin } = await tListeningGateway({}, upstream);
  const ordinary = await askRepeatedly(origin);
  expect(ordinary[0]).toContain('"name":"Germany"');
  expect(ordinary[0]).toContain('"valid":true');

  const coverage = tFolder();
  const restricted = await tGatewayProcess({
    ...noUpstreams,
    ...{ BANK_DATA_URL: upstream.url, BANK_DATA_API_KEY: bankDataKey, OTEL_SERVICE_NAME: 'unused' },
    ...{ NODE_OPTIONS: '--disallow-code-generation-from-strings', NODE_V8_COVERAGE: coverage },
  });
  expect(await askRepeatedly(restricted.origin)).toEqual(ordinary);
  expect(restricted.process.stderr()).not.toContain('unexpected error');

  restricted.process.kill('SIGTERM');
  expect(await restricted.process.ended).toEqual({ code: 0, signal: null });
  const loaded = readLoadedCode(coverage);
  expect(loaded.some((code) => /BatchSpanProcessor|createContextKey/.test(code))).toBe(false);
  expect(loaded.length).toBeGreaterThan(5);
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

/** @returns the code of each file that the process has loaded */
function readLoadedCode(coverage: string): string[] {
  const scripts = readdirSync(coverage).flatMap(
    (file) => JSON.parse(readFileSync(join(coverage, file), 'utf8')).result,
  );
  return scripts.flatMap(({ url }: { url: string }) =>
    url.startsWith('file:') ? [readFileSync(new URL(url), 'utf8')] : [],
  );
}
