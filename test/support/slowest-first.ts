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

/*
 * Files that wait for browsers and processes alternate with files that compute. The first two match many regular expressions:
 * V8 does not optimize those that it compiles once a process has 16 MB of code, and they would take six times as long.
 */
const slowest = [
  'test/self-hosted/essays/tagged-essay.test.ts',
  'test/self-hosted/essays/model-output.test.ts',
  'test/e2e/operations/redis-degraded.test.ts',
  'test/examples/essays.test.ts',
  'test/e2e/operations/redis-down.test.ts',
  'test/examples/ibans.test.ts',
  'test/e2e/lost-redis-data.test.ts',
  'test/self-hosted/bank-data/directory/import-limits.test.ts',
  'test/e2e/kill-orders.test.ts',
  'test/deploy/monitoring.test.ts',
  'test/e2e/operations/processes.test.ts',
  'test/fuzz/request-cost.test.ts',
  'test/cli/check-config.test.ts',
  'test/examples/files.test.ts',
  'test/e2e/operations/embedded-store.test.ts',
  'test/http/graphiql.test.ts',
  'test/e2e/operations/services.test.ts',
  'test/graphql/documents/memory.test.ts',
  'test/self-hosted/bank-data/directory/import-banks.test.ts',
  'test/e2e/observed-outages.test.ts',
  'test/payment-files/check-command.test.ts',
  'test/self-hosted/bank-data/directory/killed-import.test.ts',
  'test/payment-files/check-messages.test.ts',
  'test/telemetry/metrics.test.ts',
  'test/payment-files/resume.test.ts',
  'test/e2e/replicas.test.ts',
  'test/stores/lmdb-store.test.ts',
  'test/e2e/store-secret.test.ts',
  'test/federation/routers.test.ts',
  'test/e2e/crash.test.ts',
  'test/e2e/start.test.ts',
  'test/e2e/proxy-limit.test.ts',
  'test/docs/client-tools.test.ts',
  'test/stores/redis-cluster.test.ts',
  'test/graphql/parity.test.ts',
  'test/e2e/rollout.test.ts',
  'test/stores/verify-store.test.ts',
  'test/scripts/release.test.ts',
  'test/fuzz/worst-document.test.ts',
  'test/examples/serve.test.ts',
  'test/payment-files/memory.test.ts',
  'test/federation/example.test.ts',
  'test/stores/store-files.test.ts',
  'test/e2e/wrong-configuration.test.ts',
  'test/docs/clients.test.ts',
  'test/path-length.test.ts',
  'test/failures/canaries.test.ts',
];
