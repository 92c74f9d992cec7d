import { existsSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { plainSummary } from './test/support/plain-summary.ts';
import { SlowestFirst } from './test/support/slowest-first.ts';

/** Files of tests are in memory where there is room: stores wait for the disk after each write. */
const memoryDisk = '/dev/shm';
const hasRoom = existsSync(memoryDisk) && statfsSync(memoryDisk).bavail * statfsSync(memoryDisk).bsize > 2e9;

// Otherwise the workers would colour their messages in a file, too.
if (!process.stdout.isTTY) process.env.NO_COLOR = '1';

export default defineConfig({
  // Node loads graphql's CommonJS build. Vite would load its ES build too, and schemas of one do not work with the other.
  resolve: { alias: { graphql: 'graphql/index.js' } },
  test: {
    include: ['test/**/*.test.ts'],
    // They start many processes and take minutes: `.ci/run` runs them, too.
    exclude: process.env.LONG_TESTS ? [] : ['test/long/**'],
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['minimal', plainSummary()],
    // Tests that start processes and pages have time limits, so more workers than cores would let some of them pass these.
    maxWorkers: availableParallelism(),
    sequence: { sequencer: SlowestFirst },
    // Modules have no state, so a worker loads each of them once for all of its test files.
    isolate: false,
    // Unchanged files are not compiled again in the next run.
    experimental: { fsModuleCache: true },
    setupFiles: ['test/support/restore-globals.ts'],
    unstubEnvs: true,
    env: hasRoom ? { TMPDIR: memoryDisk } : {},
    // They only end what hangs: the machine may be busy with any other work. What must be fast is measured in CPU time, or in `bench`.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 100_000 } },
  },
});
