import * as z from 'zod';
import { readPart, replacePart } from './replace-part.ts';

/* Rewrites the generated parts of src/iban/registry-table.ts. */

const positions = z.string().regex(/^\d+-\d+$/, 'must be two positions, such as 1-4');

/** A registry file, such as test/data/iban-registry.json. */
export const registryFile = z.object({
  source: z.string(),
  positions: z.string(),
  countries: z.array(
    z.object({
      country: z.string(),
      name: z.string(),
      format: z.string(),
      regex: z.string(),
      length: z.number(),
      example: z.string(),
      sepa: z.boolean(),
      bank: positions,
      branch: positions.nullable(),
      nationalCheck: positions.nullable(),
      territories: z.array(z.string()),
    }),
  ),
});

export type RegistryFile = z.infer<typeof registryFile>;
type Country = RegistryFile['countries'][number];

/** The source of registry-table.ts with the release, the rows and the territories of the registry. */
export function refreshRegistryTable(table: string, { source, countries }: RegistryFile): string {
  const sepa = readPart(table, /const (sepa) = 'SEPA';/i);
  const byCode = countries.toSorted((a, b) => (a.country < b.country ? -1 : 1));
  const rows = byCode.map((country) => `  ${toRow(country, sepa)},\n`);
  const territories = byCode
    .filter((country) => country.territories.length > 0)
    .map((country) => `  ['${country.country}', [${country.territories.map((code) => `'${code}'`).join(', ')}]],\n`);

  const release = readPart(source, /release ([^)]*\))/);
  let refreshed = replacePart(table, /(registryRelease = ')[^']*/, release);
  refreshed = replacePart(refreshed, /(registryRows[^=]*= \[\n)(?: {2}.*\n)*/, rows.join(''));
  return replacePart(refreshed, /(const territories: [^=]*= new Map\(\[\n)(?: {2}.*\n)*/i, territories.join(''));
}

/** The account prefix: two independent tables have it as the branch, the registry has no branch. */
const missingBranches: ReadonlyMap<string, string> = new Map([
  ['CZ', '5-10'],
  ['SK', '5-10'],
]);

function toRow({ country, format, example, sepa, bank, branch, nationalCheck }: Country, sepaName: string): string {
  const branchOrPrefix = branch ?? missingBranches.get(country) ?? null;
  const spans = [bank, branchOrPrefix, nationalCheck].map(toTuple);
  while (spans.at(-1) === 'null') spans.pop();
  return `[${[`'${format}'`, `'${example}'`, sepa ? sepaName : 'null', ...spans].join(', ')}]`;
}

function toTuple(span: string | null): string {
  return span === null ? 'null' : `[${span.replace('-', ', ')}]`;
}
