import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The licenses of the packages whose code is in a bundle, which contains no comments. @param inputs paths of its sources */
export function describeLicenses(inputs: readonly string[]): string {
  const folders = new Set(inputs.flatMap((input) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []));
  const sections = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const files = readdirSync(folder).filter((file) => /^(license|licence|notice|copying)([.-]|$)/i.test(file));
    const texts = files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim());
    return [`${name} ${version} (${license})`, ...texts].join('\n\n');
  });
  return `Ledgerquill contains code of these packages.\n\n${sections.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}
