import type { Reporter, TestModule } from 'vitest/node';
import { describeJudgements } from './judgements.ts';

/** Prints what outside judges have checked, and ends a run with one machine-readable line: `N passed, N failed`, and `, N skipped` if tests were skipped. */
export function plainSummary(): Reporter {
  return {
    onTestRunEnd(modules) {
      const states = modules.flatMap(statesOf);
      const count = (state: string) => states.filter((other) => other === state).length;
      const broken = modules.filter((module) => module.state() === 'failed' && module.errors().length > 0).length;
      const skipped = count('skipped');
      const line = `${count('passed')} passed, ${count('failed') + broken} failed`;
      const judgements = modules.flatMap((module) => testsOf(module).flatMap((test) => test.meta().judgement ?? []));
      if (judgements.length > 0) process.stdout.write(`${describeJudgements(judgements)}\n`);
      process.stdout.write(`${line}${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
    },
  };
}

function statesOf(module: TestModule): string[] {
  return testsOf(module).map((test) => test.result().state);
}

function testsOf(module: TestModule) {
  return [...module.children.allTests()];
}
