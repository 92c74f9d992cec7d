import type { Reporter, TestModule } from 'vitest/node';

/** Ends a run with one machine-readable line: `N passed, N failed`, and `, N skipped` if tests were skipped. */
export function plainSummary(): Reporter {
  return {
    onTestRunEnd(modules) {
      const states = modules.flatMap(statesOf);
      const count = (state: string) => states.filter((other) => other === state).length;
      const broken = modules.filter((module) => module.state() === 'failed' && module.errors().length > 0).length;
      const skipped = count('skipped');
      const line = `${count('passed')} passed, ${count('failed') + broken} failed`;
      process.stdout.write(`\n${line}${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
    },
  };
}

function statesOf(module: TestModule): string[] {
  return [...module.children.allTests()].map((test) => test.result().state);
}
