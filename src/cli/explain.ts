import { readFileSync } from 'node:fs';
import { distance } from 'fastest-levenshtein';
import { UsageError } from '../base/errors.ts';
import { builtFile } from '../base/process/package-files.ts';
import { print } from '../base/process/terminal.ts';

/** Prints what a code of a finding means, and what would be right, from the tables of the documentation. @throws UsageError */
export function explain(name: string): void {
  const code = name.trim().toUpperCase();
  const entries = pages.flatMap(readEntries);
  const found = entries.filter((entry) => entry.codes.includes(code));
  if (found.length === 0) {
    const [nearest] = entries
      .flatMap(({ codes }) => codes)
      .toSorted((one, other) => distance(one, code) - distance(other, code));
    throw new UsageError(`there is no finding ${JSON.stringify(name)}; the nearest is ${nearest}`);
  }
  print(`${found.map(({ lines }) => [code, ...lines].join('\n')).join('\n\n')}\n`);
}

const pages = ['payment-messages.md', 'check-files.md'] as const;

interface Entry {
  codes: readonly string[];
  lines: readonly string[];
}

/** The rows of tables whose first cell has codes, and whose second one has a severity. */
function readEntries(page: (typeof pages)[number]): Entry[] {
  const rows = readFileSync(builtFile(`../docs/${page}`), 'utf8').matchAll(/^\| (`.*) \|$/gm);
  return [...rows].flatMap(([, row = '']) => {
    const [codes = '', severity = '', found = '', right, source] = row.split(' | ').map(toText);
    if (!['error', 'warning', 'hint'].includes(severity)) return [];
    const about = page === 'check-files.md' ? 'a table' : 'a payment message';
    const lines = [
      ...[`  in ${about}: ${severity}`, `  what was found: ${found}`],
      ...(right === undefined ? [] : [`  what would be right: ${right}`]),
      ...(source === undefined ? [] : [`  source: ${source}`]),
    ];
    return [{ codes: codes.split(', '), lines }];
  });
}

/** Without the signs of Markdown. */
function toText(cell: string): string {
  return cell.replaceAll('`', '').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
}
