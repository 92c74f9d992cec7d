import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { plainSummary } from './test/plain-summary.ts';
import { SlowestFirst } from './test/slowest-first.ts';

export default defineConfig({
  // Node loads graphql's CommonJS build; Vite would load its ES build beside it, and the two do not know each other.
  resolve: { alias: { graphql: 'graphql/index.js' } },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/build.ts'],
    reporters: ['default', plainSummary()],
    // Many tests wait for processes and pages, so one worker per core would leave cores idle.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: SlowestFirst },
    // No module keeps state, so that a worker can load each once for all of its files.
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
    // Not how long a test may take, but when to give up on a machine that is busy with something else.
    testTimeout: 30_000,
  },
});
