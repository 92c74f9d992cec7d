import { readFileSync } from 'node:fs';
import { createBankLists } from '../src/banks/bank-lists.ts';
import { bankFileFormats, importableCountries } from '../src/banks/import/files/formats.ts';
import { errorCodes } from '../src/base/errors.ts';
import { rules } from '../src/check/pain/rules.ts';
import { describeLists } from '../src/cli/look-up.ts';
import { definitions } from '../src/gateway/telemetry/metrics/definitions.ts';
import { failureCodes } from './failure-codes.ts';
import { outageSigns } from './outage-signs.ts';
import { describeAlerts } from './print-alerts.ts';
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
  'docs/bank-directories.md': { lists: printLists, files: printFiles },
  'docs/configuration.md': Object.fromEntries(
    Object.entries(variableTexts).map(([heading, rows]) => [
      heading,
      () => printTable(['variable', 'default', 'meaning'], rows),
    ]),
  ),
  'docs/incidents.md': {
    ...Object.fromEntries(
      ['Processes', 'Requests', 'Upstreams', 'Paid calls', 'Stores', 'Bank lists'].map((heading) => [
        heading,
        () => printTable(['alert', 'severity', 'metric', 'cause', 'remedy'], describeAlerts(heading)),
      ]),
    ),
    signs: () => printTable(['outage', 'codes', '`storeFailure` in `/ready`', 'metrics', 'log', 'alerts'], outageSigns),
    outages: () => printTable(['outage', 'alerts'], readOutages().map(describeOutage)),
  },
  'docs/metrics.md': { metrics: printMetrics },
  'docs/operations.md': { codes: printCodes },
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

/** @throws if a code has no row, or two */
function printCodes(): string {
  const listed = failureCodes.flatMap(([codes]) => [...codes.matchAll(/\w+/g)].map(([code]) => code));
  if (listed.toSorted().join() !== errorCodes.toSorted().join())
    throw new Error(`scripts/failure-codes.ts must have each of these codes once: ${errorCodes.join(', ')}`);
  return printTable(['code', 'meaning', 'action'], failureCodes);
}

function printLists(): string {
  const rows = describeLists(createBankLists()).map(({ old: _, ...row }) => Object.values(row).map(String));
  return printTable(['country', 'codes', 'closed', 'BICs', 'names', 'cities', 'date', 'kind', 'source'], rows);
}

/** The files of national banks. Countries with one file are one row. */
function printFiles(): string {
  const rows = new Map<string, { countries: string[]; cells: readonly string[] }>();
  for (const country of importableCountries()) {
    const format = bankFileFormats(country).at(-1);
    if (format === undefined) continue;
    const { source, download, layout, columns, cadence } = format;
    const fields = ['name', 'zip', 'city', 'bic', 'accountCheckMethod'].filter((field) => columns[field] !== undefined);
    const has = fields.map((field) => ({ bic: 'BIC', accountCheckMethod: 'check digit method' })[field] ?? field);
    const [url = ''] = download.split(' ');
    const cells = [`[${source}](${url})`, layout.kind, has.join(', '), terms[country] ?? 'not checked', cadence.name];
    const row = rows.get(cells.join()) ?? { countries: [], cells };
    rows.set(cells.join(), { ...row, countries: [...row.countries, country] });
  }
  const titles = ['country', 'publisher', 'file', 'has', 'terms', 'published'];
  return printTable(
    titles,
    [...rows.values()].map(({ countries, cells }) => [countries.join(', '), ...cells]),
  );
}

/** The terms of use, as found in 2026. */
const terms: Record<string, string> = {
  AT: 'CC BY 4.0',
  BE: 'none found',
  CH: 'own use only',
  CZ: 'open data, name the source',
  DE: 'allowed, name the source',
  DK: 'none found',
  ES: 'allowed, cite the ECB',
  FO: 'none found',
  FR: 'allowed, cite the ECB',
  GL: 'none found',
  LI: 'own use only',
  NL: 'own use only',
  PL: 'none found',
  SK: 'name the source, do not change the data',
  UA: 'open data, name the source',
};

if (process.argv[1] === new URL(import.meta.url).pathname)
  for (const path of printedPages) {
    const file = new URL(path, root);
    const page = readFileSync(file, 'utf8');
    writeFile(file.pathname, printTables(path, page));
  }
