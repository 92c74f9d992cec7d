import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import { describe, expect, it } from 'vitest';

/* That the rules of eslint.config.js notice what they are for; `npm run check` applies them. */

const cwd = fileURLToPath(new URL('..', import.meta.url));
const sdl = readFileSync(new URL('../schema.graphql', import.meta.url), 'utf8');
const eslint = new ESLint({ cwd });

/** The rules that an edit of today's schema would break. */
async function faultsBy(from: string, to: string): Promise<string[]> {
  const edited = sdl.replace(from, to);
  expect(edited).not.toBe(sdl);
  const [result] = await eslint.lintText(edited, { filePath: 'schema.graphql' });
  return (result?.messages ?? []).map(({ ruleId, message }) => (ruleId ?? message).replace('@graphql-eslint/', ''));
}

describe('the lint of the schema', () => {
  it.each([
    ['a field without a description', 'type BankData {', 'type BankData {\n  extra: String', 'require-description'],
    ['a value without a description', 'enum Service {', 'enum Service {\n  EXTRA', 'require-description'],
    ['a field in snake case', '  sepaCountry:', '  sepa_country:', 'naming-convention'],
    ['a value in small letters', '  ESSAYS\n', '  essays\n', 'naming-convention'],
    [
      'a mutation whose input is no input',
      '    input: GenerateEssayInput!',
      '    order: GenerateEssayInput!',
      'input-name',
    ],
    ['a connection without a place', '  pageInfo: PageInfo!', '  page: PageInfo!', 'relay-connection-types'],
    ['an edge without a cursor', '  cursor: String!', '  place: String!', 'relay-edge-types'],
    ['a page without an end', '  endCursor: String', '  end: String', 'relay-page-info'],
    [
      'a connection that is asked for without a count',
      '    first: Int! = 20',
      '    most: Int! = 20',
      'relay-arguments',
    ],
    ['a deprecation without a reason', '  zip: String', '  zip: String @deprecated', 'require-deprecation-reason'],
    [
      'a deprecation without a date',
      '  zip: String',
      '  zip: String @deprecated(reason: "Ask `city`.")',
      'no-restricted-syntax',
    ],
  ])('notices %s', async (_, from, to, rule) => {
    expect(await faultsBy(from, to)).toContain(rule);
  });

  it('is content with a deprecation that names the date', async () => {
    const reason = 'Ask `city`; gone from 2027-01-31 on.';
    expect(await faultsBy('  zip: String', `  zip: String @deprecated(reason: "${reason}")`)).toEqual([]);
  });
});
