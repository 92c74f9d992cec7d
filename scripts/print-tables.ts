import { readFileSync } from 'node:fs';
import { createBankLists } from '../src/banks/bank-lists.ts';
import { bankFileFormats, importableCountries } from '../src/banks/import/files/formats.ts';
import { errorCodes } from '../src/base/errors.ts';
import { rules, tableRules } from '../src/check/finding.ts';
import { messageLimits } from '../src/check/pain/read-message.ts';
import { describeLists } from '../src/cli/look-up.ts';
import { definitions } from '../src/gateway/telemetry/metrics/definitions.ts';
import { dependencyReasons } from './dependency-reasons.ts';
import { failureCodes } from './failure-codes.ts';
import { labelTexts } from './label-texts.ts';
import { outageSigns } from './outage-signs.ts';
import { describeAlerts } from './print-alerts.ts';
import { describeOutage, readOutages } from './print-outages.ts';
import { limitTexts, resultTexts, ruleTexts, sourceTexts, tableTexts } from './rule-texts.ts';
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
  'docs/check-files.md': { codes: printTableRules },
  'docs/configuration.md': Object.fromEntries(
    Object.entries(variableTexts).map(([heading, rows]) => [
      heading,
      () => printTable(['variable', 'default', 'meaning'], rows),
    ]),
  ),
  'docs/dependencies.md': {
    dependencies: () => printReasons('dependencies', ['dependency', 'what it does here']),
    overrides: () => printReasons('overrides', ['override', 'reason']),
  },
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
  'docs/metrics.md': { metrics: printMetrics, labels: printLabels },
  'docs/operations.md': { codes: printCodes },
  'docs/payments-clerks.md': { results: printResults },
  'docs/payment-messages.md': {
    rules: printRules,
    sources: () => printTable(['name', 'document'], sourceTexts),
    limits: printLimits,
  },
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

/** The values of each label, in the order in which metrics have them. @throws for a label without values and text */
function printLabels(): string {
  const values = new Map<string, Set<string>>();
  for (const { labels } of Object.values(definitions)) {
    for (const [label, listed] of Object.entries(labels as Readonly<Record<string, readonly string[] | null>>))
      values.set(label, new Set([...(values.get(label) ?? []), ...(listed ?? [])]));
  }
  const rows = [...values].map(([label, listed]) => {
    const text = labelTexts[label] ?? [...listed].map((value) => `\`${value}\``).join(', ');
    if (text === '') throw new Error(`scripts/label-texts.ts must say which values the label ${label} has`);
    return [`\`${label}\``, text];
  });
  return printTable(['label', 'values'], rows);
}

function printLimits(): string {
  const limits = Object.keys(messageLimits) as (keyof typeof messageLimits)[];
  const rows = limits.map((limit) => [limitTexts[limit], messageLimits[limit].toLocaleString('en')]);
  return printTable(['what', 'limit'], [['file', '1 GB'], ...rows]);
}

/** @throws if package.json has a package without a reason, or the reverse */
function printReasons(field: keyof typeof dependencyReasons, titles: readonly string[]): string {
  const reasons = Object.entries(dependencyReasons[field]);
  const wanted = Object.keys(JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))[field]);
  if (reasons.map(([name]) => name).join() !== wanted.join())
    throw new Error(`scripts/dependency-reasons.ts must have the ${field} of package.json in their order: ${wanted}`);
  return printTable(
    titles,
    reasons.map(([name, reason]) => [`\`${name}\``, reason]),
  );
}

function printRules(): string {
  const codes = Object.keys(rules) as (keyof typeof rules)[];
  const rows = codes.map((code) => [`\`${code}\``, rules[code].severity, ...ruleTexts[code], rules[code].source]);
  return printTable(['code', 'severity', 'what was found', 'what would be right', 'source'], rows);
}

function printTableRules(): string {
  const codes = Object.keys(tableRules) as (keyof typeof tableRules)[];
  const rows = codes.map((code) => [`\`${code}\``, tableRules[code].severity, ...tableTexts[code]]);
  return printTable(['code', 'severity', 'what was found', 'what would be right'], rows);
}

function printResults(): string {
  const rows = Object.entries(resultTexts).flatMap(([column, texts]) =>
    Object.entries(texts).map(([word, cells]) => [`\`${word}\``, `\`${column}\``, ...cells]),
  );
  return printTable(['code', 'column', 'what it means', 'what to do'], rows);
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
