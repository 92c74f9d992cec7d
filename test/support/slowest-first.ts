import { existsSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Runs the slowest files first, so that none of them runs alone at the end. The others follow in Vitest's own order. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    for (const path of slowest) if (!existsSync(path)) throw new Error(`${path} in slowest-first.ts does not exist`);
    const rank = ({ moduleId }: TestSpecification) => {
      const index = slowest.findIndex((path) => moduleId.endsWith(path));
      return index === -1 ? slowest.length : index;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

/** They wait for browsers and processes. */
const slowest = [
  'test/e2e/operations/redis-degraded.test.ts',
  'test/fuzz/request-cost.test.ts',
  'test/examples/essays.test.ts',
  'test/examples/ibans.test.ts',
  'test/e2e/operations/redis-down.test.ts',
  'test/e2e/start.test.ts',
  'test/e2e/wrong-configuration.test.ts',
  'test/examples/serve.test.ts',
  'test/e2e/operations/processes.test.ts',
  'test/federation/example.test.ts',
  'test/path-length.test.ts',
  'test/http/graphiql.test.ts',
  'test/e2e/operations/services.test.ts',
  'test/graphql/parity.test.ts',
  'test/graphql/documents/memory.test.ts',
  'test/e2e/operations/embedded-store.test.ts',
  'test/failures/matrix.test.ts',
  'test/failures/canaries.test.ts',
  'test/failures/stale-cache.test.ts',
  'test/telemetry/echoed-secrets.test.ts',
  'test/telemetry/traces.test.ts',
  'test/e2e/observed-outages.test.ts',
  'test/e2e/crash.test.ts',
  'test/e2e/replicas.test.ts',
  'test/stores/lmdb-store.test.ts',
  'test/bench/comparison.test.ts',
  'test/scripts/release.test.ts',
  'test/self-hosted/bank-data/directory/killed-import.test.ts',
  'test/self-hosted/bank-data/directory/import-banks.test.ts',
  'test/docs/clients.test.ts',
];
