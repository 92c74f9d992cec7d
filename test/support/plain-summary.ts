import type { TaskMeta } from 'vitest';
import type { Reporter, TestModule } from 'vitest/node';

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

/** What an outside judge has checked: a test suite or a tool of others. The summary of a run prints the counts. */
interface Judgement {
  judge: string;
  passed: number;
  total: number;
}

declare module 'vitest' {
  interface TaskMeta {
    judgement?: Judgement;
  }
}

interface JudgedTask {
  meta: TaskMeta;
  result?: { state?: string } | undefined;
}

/** Counts a finished test as one check of a judge. */
export function countJudgement({ meta, result }: JudgedTask, judge: string): void {
  meta.judgement = { judge, passed: result?.state === 'fail' ? 0 : 1, total: 1 };
}

/** One line with all judges: `Outside judges: Cosmo (2 of 2 passed), promtool (1 of 1 passed)`. */
function describeJudgements(judgements: readonly Judgement[]): string {
  const sums = new Map<string, { passed: number; total: number }>();
  for (const { judge, passed, total } of judgements) {
    const sum = sums.get(judge) ?? { passed: 0, total: 0 };
    sums.set(judge, { passed: sum.passed + passed, total: sum.total + total });
  }
  const judges = [...sums].map(([judge, { passed, total }]) => `${judge} (${passed} of ${total} passed)`);
  return `Outside judges: ${judges.sort().join(', ')}`;
}
