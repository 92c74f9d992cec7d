import { expect } from 'vitest';

/** Counts what random cases reach, so that a generator that no longer reaches it fails its test. */
export function tCoverage() {
  const counts = new Map<string, number>();
  return {
    count: (name: string) => void counts.set(name, (counts.get(name) ?? 0) + 1),
    /** @param leastPercent of the cases, by name */
    check(cases: number, leastPercent: Readonly<Record<string, number>>): void {
      const isSeldom = (name: string, percent: number) => (counts.get(name) ?? 0) < Math.floor((cases * percent) / 100);
      const seldom = Object.entries(leastPercent).filter(([name, percent]) => isSeldom(name, percent));
      expect(seldom, `in ${cases} cases: ${JSON.stringify(Object.fromEntries(counts))}`).toEqual([]);
    },
  };
}
