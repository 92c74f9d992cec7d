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
 * Files that wait for browsers and processes alternate with files that compute. The first one matches many regular
 * expressions: V8 does not optimize those that it compiles once a process has 16 MB of code, and they would take six times as long. The
 * next two collect garbage often, which takes five times as long in the heap that a worker has at its end.
 */
const slowest = [
  'test/essay-service/chat-answer.test.ts',
  'test/gateway/essays/rest/read-essay.test.ts',
  'test/check/pain/fix-message.test.ts',
  'test/check/pain/stream.test.ts',
  'test/check/pain/schema.test.ts',
  'test/check/pain/mutations.test.ts',
  'test/e2e/failing-redis.test.ts',
  'test/banks/import/import-limits.test.ts',
  'test/deploy/monitoring.test.ts',
  'test/fuzz/request-cost.test.ts',
  'test/cli/check-config.test.ts',
  'test/gateway/http/graphiql.test.ts',
  'test/gateway/graphql/documents/memory.test.ts',
  'test/banks/import/import-banks.test.ts',
  'test/e2e/observed-outages.test.ts',
  'test/check/check-command.test.ts',
  'test/banks/import/killed-import.test.ts',
  'test/check/check-messages.test.ts',
  'test/gateway/telemetry/metrics.test.ts',
  'test/check/resume.test.ts',
  'test/e2e/replicas.test.ts',
  'test/gateway/stores/lmdb-store.test.ts',
  'test/e2e/store-secret.test.ts',
  'test/federation/routers.test.ts',
  'test/e2e/start.test.ts',
  'test/e2e/proxy-limit.test.ts',
  'test/gateway/stores/redis-cluster.test.ts',
  'test/gateway/graphql/parity.test.ts',
  'test/cli/store.test.ts',
  'test/check/memory.test.ts',
  'test/gateway/stores/store-files.test.ts',
  'test/e2e/wrong-configuration.test.ts',
  'test/docs/clients.test.ts',
  'test/path-length.test.ts',
  'test/failures/canaries.test.ts',
];
