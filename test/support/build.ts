import { spawnSync } from 'node:child_process';
import type { TestProject } from 'vitest/node';

/** Before all tests: brings `dist` up to date once, for those that run built files. Does nothing where it is. */
export function setup(project: TestProject): void {
  build();
  project.onTestsRerun(async () => build());
}

function build(): void {
  const root = new URL('../..', import.meta.url);
  const args = ['--import', 'tsx', 'scripts/build.ts'];
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error(`scripts/build.ts ended with ${status}`);
}
