import { readFileSync } from 'node:fs';
import { distance } from 'fastest-levenshtein';
import { UsageError } from '../base/errors.ts';
import { builtFile } from '../base/process/package-files.ts';
import { print } from '../base/process/terminal.ts';
import { bankStatuses } from '../check/pain/bank-statuses.ts';
import { bankReasons } from '../check/pain/code-lists.ts';

/** Prints what codes in a result mean, and what would be right. @throws UsageError */
export function explain(names: readonly string[]): void {
  const entries = listExplanations();
  const found = names.flatMap((name) => {
    const code = name.trim().toUpperCase();
    const ofCode = entries.filter(({ codes }) => codes.includes(code));
    if (ofCode.length > 0) return ofCode.map(({ lines }) => [code, ...lines].join('\n  '));
    const known = entries.flatMap(({ codes }) => codes);
    const [nearest] = known.toSorted((one, other) => distance(one, code) - distance(other, code));
    throw new UsageError(`no result has the code ${JSON.stringify(name)}; the nearest is ${nearest}`);
  });
  print(`${found.join('\n\n')}\n`);
}

interface Explanation {
  codes: readonly string[];
  lines: readonly string[];
}

/** Those of the tables of the documentation, and of statuses and reasons of banks. */
function listExplanations(): Explanation[] {
  const pages = ['payment-messages', 'check-files', 'payments-clerks', 'operations'];
  const statuses = [...bankStatuses].map(([status, { code, meaning }]) => {
    return {
      codes: [status],
      lines: [`status of a bank: ${meaning || 'accepted'}`, ...(code === null ? [] : [`finding: ${code}`])],
    };
  });
  const reasons = [...bankReasons].map(([code, words]) => ({ codes: [code], lines: [`reason of a bank: ${words}`] }));
  return [...pages.flatMap(readExplanations), ...statuses, ...reasons];
}

/** The rows of tables with a title "code", without the signs of Markdown. */
function readExplanations(page: string): Explanation[] {
  const text = readFileSync(builtFile(`../docs/${page}.md`), 'utf8');
  return [...text.matchAll(/^\| (code \| .*) \|\n\|[-|]+\n((?:\|.*\n)+)/gm)].flatMap(([, head = '', body = '']) => {
    const titles = head.split(' | ');
    const rows = body
      .trim()
      .split('\n')
      .map((row) => row.slice(2, -2).split(' | ').map(toText));
    return rows.map(([codes = '', ...cells]) => {
      return { codes: codes.split(', '), lines: cells.map((cell, index) => `${titles[index + 1]}: ${cell}`) };
    });
  });
}

function toText(cell: string): string {
  return cell.replaceAll('`', '').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
}
