import type { TaskMeta } from 'vitest';

/** What an outside judge has checked: a test suite or a tool of others. The summary of a run prints the counts. */
export interface Judgement {
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
export function describeJudgements(judgements: readonly Judgement[]): string {
  const sums = new Map<string, { passed: number; total: number }>();
  for (const { judge, passed, total } of judgements) {
    const sum = sums.get(judge) ?? { passed: 0, total: 0 };
    sums.set(judge, { passed: sum.passed + passed, total: sum.total + total });
  }
  const judges = [...sums].map(([judge, { passed, total }]) => `${judge} (${passed} of ${total} passed)`);
  return `Outside judges: ${judges.sort().join(', ')}`;
}
