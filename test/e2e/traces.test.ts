import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { tGatewayProcess } from '../support/gateway-process.ts';

/** Answers one query, and stops. @returns the code that the process has loaded, by file */
async function tLoadedCode(env: Record<string, string>): Promise<string[]> {
  const coverage = tFolder();
  const { process, ask } = await tGatewayProcess({ NODE_V8_COVERAGE: coverage, ...env });
  const query = '{ ibanValidation(iban: "DE89370400440532013000") { valid } }';
  expect(await ask(query)).toEqual({ ibanValidation: { valid: true } });
  process.kill('SIGTERM');
  expect(await process.ended).toEqual({ code: 0, signal: null });
  const scripts = readdirSync(coverage).flatMap(
    (file) => JSON.parse(readFileSync(join(coverage, file), 'utf8')).result,
  );
  return scripts.flatMap(({ url }: { url: string }) =>
    url.startsWith('file:') ? [readFileSync(new URL(url), 'utf8')] : [],
  );
}

it('a process loads OpenTelemetry only if it exports traces', async () => {
  const off = await tLoadedCode({ OTEL_SERVICE_NAME: 'unused' });
  const ofOpenTelemetry = (code: string) => /BatchSpanProcessor|createContextKey/.test(code);
  expect(off.some(ofOpenTelemetry)).toBe(false);
  expect(off.length).toBeGreaterThan(5);
});
