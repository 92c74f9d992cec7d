import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';
import { expect, it } from 'vitest';
import { tFolder } from './support/gateway/stores/folder.ts';

/* The rules of .dependency-cruiser.js, over a small tree. `npm run lint` applies them to src. */

const configFile = fileURLToPath(new URL('../.dependency-cruiser.js', import.meta.url));

const allowed = [
  ['src/cli/start.ts', 'src/gateway/gateway.ts'],
  ['src/cli/start.ts', 'src/essay-service/service.ts'],
  ['src/gateway/gateway.ts', 'src/gateway/http/server.ts'],
  ['src/gateway/http/server.ts', 'src/gateway/graphql/request/yoga.ts'],
  ['src/gateway/http/check-endpoint.ts', 'src/check/check-tables.ts'],
  ['src/gateway/graphql/request/yoga.ts', 'src/base/errors.ts'],
  ['src/gateway/upstream/send.ts', 'src/gateway/upstream/retries.ts'],
  ['src/gateway/callers/budget.ts', 'src/gateway/upstream/allowance/count.ts'],
  ['src/bank-data-service/service.ts', 'src/banks/list.ts'],
  ['src/banks/list.ts', 'src/iban/iban.ts'],
  ['src/iban/country-name.ts', 'fs'],
] as const;

const forbidden = [
  ['bank-data-service imports lower layers only', 'src/bank-data-service/service.ts', 'src/essay-service/service.ts'],
  ['base imports lower layers only', 'src/base/errors.ts', 'src/iban/iban.ts'],
  ['check imports lower layers only', 'src/check/check-tables.ts', 'src/gateway/bank-data/bank-data.ts'],
  ['essay-service imports lower layers only', 'src/essay-service/writer.ts', 'src/bank-data-service/service.ts'],
  ['essays imports lower layers only', 'src/gateway/essays/port.ts', 'src/gateway/bank-data/bank-data.ts'],
  ['every folder is in a layer', 'src/cli/start.ts', 'src/new-folder/file.ts'],
  ['every folder is in a layer', 'src/gateway/gateway.ts', 'src/gateway/new-folder/file.ts'],
  ['gateway/callers imports few folders', 'src/gateway/callers/budget.ts', 'src/gateway/upstream/send.ts'],
  ['gateway/upstream imports few folders', 'src/gateway/upstream/send.ts', 'src/gateway/config/config.ts'],
  [
    'graphql/documents imports lower layers only',
    'src/gateway/graphql/documents/cost.ts',
    'src/gateway/graphql/request/yoga.ts',
  ],
  ['graphql/request imports lower layers only', 'src/gateway/graphql/request/reply.ts', 'src/gateway/http/server.ts'],
  ['iban is pure', 'src/iban/iban.ts', 'fs'],
  ['no cycles', 'src/gateway/upstream/retries.ts', 'src/gateway/upstream/send.ts'],
  ['no orphans', 'src/base/month.ts', 'src/base/month.ts'],
  ['src imports no tests, scripts, benchmarks or examples', 'src/base/errors.ts', 'test/double.ts'],
  ['the gateway meets the services over HTTP only', 'src/gateway/gateway.ts', 'src/essay-service/service.ts'],
] as const;

it('finds each import that the layers forbid, type imports too, and cycles and orphans', async () => {
  const folder = tFolder();
  for (const [from, to] of [...allowed, ...forbidden.map(([, ...edge]) => edge)]) {
    const specifier = to === 'fs' ? 'node:fs' : `./${relative(dirname(from), to)}`;
    append(join(folder, from), from === to ? '' : `import type { A } from '${specifier}';\n`);
    if (to !== 'fs') append(join(folder, to), '');
  }
  expect(await findViolations(folder)).toEqual(forbidden.map((violation) => violation.join(' | ')));
});

function append(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, text);
}

async function findViolations(baseDir: string): Promise<string[]> {
  const { output } = await cruise(['src'], { ...(await extractOptions(configFile)), baseDir, validate: true });
  const { violations } = (output as ICruiseResult).summary;
  return violations.map(({ rule, from, to }) => [rule.name, from, to].join(' | ')).toSorted();
}
