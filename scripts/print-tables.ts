import { readFileSync } from 'node:fs';
import { createBankLists } from '../src/banks/bank-lists.ts';
import { rules } from '../src/check/pain/rules.ts';
import { describeLists } from '../src/cli/look-up.ts';
import { definitions } from '../src/gateway/telemetry/metrics/definitions.ts';
import { describeOutage, readOutages } from './print-outages.ts';
import { ruleTexts } from './rule-texts.ts';
import { variableTexts } from './variable-texts.ts';
import { writeFile } from './write-file.ts';

/*
 * `npm run tables`: writes the tables of docs that follow from the code, between `<!-- printed: NAME -->` and `<!-- end -->`. A test
 * fails when a page and the code differ.
 */

const root = new URL('../', import.meta.url);

/** The text of each table, by page and name. */
const tables: Record<string, Record<string, () => string>> = {
  'docs/bank-directories.md': { lists: printLists },
  'docs/configuration.md': Object.fromEntries(
    Object.entries(variableTexts).map(([heading, rows]) => [
      heading,
      () => printTable(['variable', 'default', 'meaning'], rows),
    ]),
  ),
  'docs/incidents.md': { outages: () => printTable(['outage', 'alerts'], readOutages().map(describeOutage)) },
  'docs/metrics.md': { metrics: printMetrics },
  'docs/payment-messages.md': { rules: printRules },
};

export const printedPages = Object.keys(tables);

/** A page with its tables as they follow from the code. @throws if a table has no place in the page, or a place no table */
export function printTables(path: string, page: string): string {
  const missing = new Set(Object.keys(tables[path] ?? {}));
  const printed = page.replaceAll(/(<!-- printed: (.*) -->\n)[\s\S]*?(<!-- end -->)/g, (_, begin, name, end) => {
    const print = tables[path]?.[name];
    if (!print) throw new Error(`${path} has a place for the table "${name}", which does not exist`);
    missing.delete(name);
    return `${begin}${print()}${end}`;
  });
  if (missing.size > 0) throw new Error(`${path} has no <!-- printed: ${[...missing][0]} -->`);
  return printed;
}

function printTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [titles.join(' | '), ...rows.map((cells) => cells.join(' | '))].map((line) => `| ${line} |\n`);
  return [lines[0], `|${'---|'.repeat(titles.length)}\n`, ...lines.slice(1)].join('');
}

function printMetrics(): string {
  const rows = Object.entries(definitions).map(([name, { type, labels, help }]) => {
    const names = Object.keys(labels).map((label) => `\`${label}\``);
    return [`\`${name}\``, type, names.join(', '), help];
  });
  return printTable(['name', 'type', 'labels', 'meaning'], rows);
}

function printRules(): string {
  const codes = Object.keys(rules) as (keyof typeof rules)[];
  const rows = codes.map((code) => [`\`${code}\``, rules[code].severity, ...ruleTexts[code], rules[code].source]);
  return printTable(['code', 'severity', 'what was found', 'what would be right', 'source'], rows);
}

function printLists(): string {
  const rows = describeLists(createBankLists()).map(({ old: _, ...row }) => Object.values(row).map(String));
  return printTable(['country', 'codes', 'closed', 'BICs', 'names', 'cities', 'date', 'kind', 'source'], rows);
}

if (process.argv[1] === new URL(import.meta.url).pathname)
  for (const path of printedPages) {
    const file = new URL(path, root);
    const page = readFileSync(file, 'utf8');
    writeFile(file.pathname, printTables(path, page));
  }
