import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Problems that prevent a release of this version; empty if there are none. */
export function findReleaseProblems(current: string, next: string, changelog: string): string[] {
  const problems: string[] = [];
  if (!/^\d+\.\d+\.\d+$/.test(next)) return [`The version must be like 1.2.3, but is ${next}.`];
  const order = new Intl.Collator('en', { numeric: true }).compare(next, current);
  if (order <= 0) problems.push(`The version must be greater than ${current}, but is ${next}.`);
  if (unreleasedOf(changelog) === '') problems.push('CHANGELOG.md has no changes under [Unreleased].');
  return problems;
}

/** The text of the changes that were not released yet. */
export function unreleasedOf(changelog: string): string {
  return /^## \[Unreleased\]\n([\s\S]*?)(?=^## \[|(?![\s\S]))/m.exec(changelog)?.[1]?.trim() ?? '';
}

/** @param date as 2026-11-21 */
export function dateChangelog(changelog: string, version: string, date: string): string {
  return changelog.replace('## [Unreleased]\n', `## [Unreleased]\n\n## [${version}] - ${date}\n`);
}

/** The chart and the gateway have the same version. */
export function setChartVersion(chart: string, version: string): string {
  return chart.replace(/^(version|appVersion): .*$/gm, `$1: ${version}`);
}

/** A package.json or package-lock.json without development dependencies. */
export function withoutDevelopment(json: string): string {
  const file: Manifest = JSON.parse(json);
  delete file.devDependencies;
  const packages = Object.entries(file.packages ?? {}).filter(([, { dev }]) => !dev);
  if (file.packages) file.packages = Object.fromEntries(packages);
  delete file.packages?.['']?.devDependencies;
  return JSON.stringify(file);
}

/** Writes the version into all files but those of npm. */
export function writeReleaseFiles(folder: string, version: string, date: string): void {
  const change = (path: string, edit: (text: string) => string) =>
    writeFileSync(join(folder, path), edit(readFileSync(join(folder, path), 'utf8')));
  change('CHANGELOG.md', (text) => dateChangelog(text, version, date));
  change('deploy/helm/ledgerquill/Chart.yaml', (text) => setChartVersion(text, version));
  change('docs/releases/breaking-changes.json', () => '[]\n');
  writeFileSync(join(folder, `docs/releases/${version}.graphql`), readFileSync(join(folder, 'schema.graphql')));
}

interface Manifest {
  devDependencies?: object;
  packages?: Record<string, { dev?: boolean; devDependencies?: object }>;
}
