import { cpus, loadavg } from 'node:os';

/** The value that this share of all is not above; NaN where there are none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** A table as Markdown has them, ready for the README. */
export function formatTable(columns: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const table = [columns, ...rows].map((row) => row.map(String));
  const widths = columns.map((_, column) => Math.max(3, ...table.map((row) => row[column]?.length ?? 0)));
  const format = (row: readonly string[]) =>
    `| ${row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = table;
  return [format(head), format(widths.map((width) => '-'.repeat(width))), ...body.map(format), ''].join('\n');
}

export interface Verdict {
  wrong(complaint: string): void;
  /** Says what was wrong, if anything, and has the process end with 1 then. */
  print(): void;
}

/** Whether the answers were right. How fast they came is for the reader to judge: it depends on the machine. */
export function createVerdict(): Verdict {
  const complaints = new Map<string, number>();
  return {
    wrong: (complaint) => void complaints.set(complaint, (complaints.get(complaint) ?? 0) + 1),
    print() {
      const lines = [...complaints].slice(0, 20).map(([complaint, times]) => `WRONG, ${times} times: ${complaint}\n`);
      process.stdout.write(lines.length > 0 ? lines.join('') : 'Every answer was right.\n');
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
  if (!(value >= 0)) throw new Error(`--${name} needs a number`);
  return value;
}

/** Figures of a machine that is busy with something else are no figures of the gateway's. */
export function describeMachine(): string {
  const [lastMinute = 0] = loadavg();
  return `Node.js ${process.versions.node}, ${cpus().length} cores; load of the last minute ${lastMinute.toFixed(1)}`;
}
