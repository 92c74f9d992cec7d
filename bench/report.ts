import { cpus, loadavg } from 'node:os';

/** The percentile of values; NaN if there are none. @param share from 0 to 1 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** With one decimal place. */
export function formatTenths(value: number): string {
  return value.toFixed(1);
}

/** A Markdown table. */
export function formatTable(columns: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const table = [columns, ...rows].map((row) => row.map(String));
  const widths = columns.map((_, column) => Math.max(3, ...table.map((row) => row[column]?.length ?? 0)));
  const format = (row: readonly string[]) =>
    `| ${row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = table;
  return [format(head), format(widths.map((width) => '-'.repeat(width))), ...body.map(format), ''].join('\n');
}

export interface Checks {
  fail(problem: string): void;
  /** Prints all problems; if there are any, the process exits with 1. */
  print(): void;
}

/** Collects incorrect answers. Durations are not checked, because they depend on the machine. */
export function createChecks(): Checks {
  const problems = new Map<string, number>();
  return {
    fail: (problem) => void problems.set(problem, (problems.get(problem) ?? 0) + 1),
    print() {
      const lines = [...problems].slice(0, 20).map(([problem, times]) => `FAILED ${times} times: ${problem}\n`);
      process.stdout.write(lines.length > 0 ? lines.join('') : 'All answers were correct.\n');
      if (lines.length > 0) process.exitCode = 1;
    },
  };
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** The number after an option such as `--seconds 60`, or the default. */
export function readNumberOption(name: string, byDefault: number): number {
  const index = process.argv.indexOf(`--${name}`);
  if (index === -1) return byDefault;
  const value = Number(process.argv[index + 1] ?? Number.NaN);
  if (!(value >= 0)) throw new Error(`--${name} must be a number of 0 or more`);
  return value;
}

/** Includes the machine's load, because other processes distort the results. */
export function describeMachine(): string {
  const [lastMinute = 0] = loadavg();
  return `Node.js ${process.versions.node}, ${cpus().length} cores; load of the last minute ${lastMinute.toFixed(1)}`;
}
