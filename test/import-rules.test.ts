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
  ['src/cli/main.ts', 'src/gateway/gateway.ts'],
  ['src/cli/main.ts', 'src/self-hosted/essays/service.ts'],
  ['src/cli/ledgerquill.ts', 'src/cli/main.ts'],
  ['src/cli/ledgerquill.ts', 'src/self-hosted/essays/service.ts'],
  ['src/gateway/http/server.ts', 'src/gateway/graphql/request/yoga.ts'],
  ['src/gateway/graphql/request/yoga.ts', 'src/base/errors.ts'],
  ['src/upstream/send.ts', 'src/gateway/upstream/retries.ts'],
  ['src/self-hosted/bank-data/service.ts', 'src/iban/iban.ts'],
  ['src/iban/iban.ts', 'src/iban/country-codes.ts'],
] as const;

const forbidden = [
  ['essays imports lower layers only', 'src/gateway/essays/essays.ts', 'src/gateway/bank-data/bank-data.ts'],
  ['every folder is in a layer', 'src/gateway/stores/store.ts', 'src/new-folder/file.ts'],
  [
    'graphql/documents imports lower layers only',
    'src/gateway/graphql/documents/cost.ts',
    'src/gateway/graphql/request/yoga.ts',
  ],
  ['graphql/request imports lower layers only', 'src/gateway/graphql/request/reply.ts', 'src/gateway/http/server.ts'],
  ['iban is pure', 'src/iban/iban.ts', 'fs'],
  ['iban is pure', 'src/iban/iban.ts', 'src/iban/country-name.ts'],
  ['no cycles', 'src/gateway/upstream/retries.ts', 'src/upstream/send.ts'],
  ['no orphans', 'src/time/month.ts', 'src/time/month.ts'],
  ['only main.ts and cli import self-hosted', 'src/gateway/gateway.ts', 'src/self-hosted/essays/service.ts'],
  [
    'self-hosted/essays imports few layers',
    'src/self-hosted/essays/service.ts',
    'src/self-hosted/bank-data/service.ts',
  ],
  ['self-hosted/essays imports few layers', 'src/self-hosted/essays/service.ts', 'src/gateway/stores/store.ts'],
  ['src imports no tests, scripts, benchmarks or examples', 'src/base/errors.ts', 'test/double.ts'],
  ['upstream imports few layers', 'src/upstream/send.ts', 'src/config/config.ts'],
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
