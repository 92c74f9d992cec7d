import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { plainSummary } from './test/plain-summary.ts';

export default defineConfig({
  // Node loads graphql's CommonJS build. Vite would load its ES build too, and schemas of one do not work with the other.
  resolve: { alias: { graphql: 'graphql/index.js' } },
  test: {
    include: ['test/**/*.test.ts'],
    reporters: ['default', plainSummary()],
    // Many tests wait for processes and pages: one worker alone would leave a small machine idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Modules have no state, so a worker loads each of them once for all of its test files.
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
    // Generous, because the machine may be busy with other work.
    testTimeout: 30_000,
  },
});
