import { spawnSync } from 'node:child_process';
import type { TestProject } from 'vitest/node';

/** Before all tests: brings `dist` up to date once, for those that run built files. Does nothing where it is. */
export function setup(project: TestProject): void {
  build();
  project.onTestsRerun(async () => build());
}

function build(): void {
  const root = new URL('..', import.meta.url);
  const { status } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '--build'], {
    cwd: root,
    stdio: 'inherit',
  });
  // 2: there are type errors, which `npm run check` reports, and all files were written nevertheless.
  if (status !== 0 && status !== 2) throw new Error(`tsc --build ended with ${status}`);
}
