import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import { describe, expect, it } from 'vitest';

/* The rules of eslint.config.js: schema.graphql follows them, and each edit breaks one. */

const cwd = fileURLToPath(new URL('..', import.meta.url));
const sdl = readFileSync(new URL('../schema.graphql', import.meta.url), 'utf8');
const eslint = new ESLint({ cwd });

/** The rules that an edit of the present schema breaks. */
async function brokenRules(from: string, to: string): Promise<string[]> {
  const edited = sdl.replace(from, to);
  expect(edited).not.toBe(sdl);
  return (await lint(edited)).map(({ ruleId, message }) => (ruleId ?? message).replace('@graphql-eslint/', ''));
}

async function lint(text: string) {
  const [result] = await eslint.lintText(text, { filePath: 'schema.graphql' });
  if (result === undefined) throw new Error('eslint.config.js must have rules for schema.graphql');
  return result.messages;
}

describe('the schema lint', () => {
  it('has nothing to report in schema.graphql', async () => {
    expect((await lint(sdl)).map(({ line, message }) => `${line}: ${message}`)).toEqual([]);
  });

  it.each([
    ['a field without a description', 'type IbanData {', 'type IbanData {\n  extra: String', 'require-description'],
    ['an enum value without a description', 'enum Service {', 'enum Service {\n  EXTRA', 'require-description'],
    ['a field in snake case', '  sepaCountry:', '  sepa_country:', 'naming-convention'],
    ['an enum value in lower case', '  ESSAYS\n', '  essays\n', 'naming-convention'],
    ['a connection without pageInfo', '  pageInfo: PageInfo!', '  page: PageInfo!', 'relay-connection-types'],
    ['an edge without a cursor', '  cursor: String!', '  place: String!', 'relay-edge-types'],
    ['a pageInfo without endCursor', '  endCursor: String', '  end: String', 'relay-page-info'],
    ['a connection without the argument first', '    first: Int = 20', '    most: Int! = 20', 'relay-arguments'],
    ['a deprecation without a reason', '  zip: String', '  zip: String @deprecated', 'require-deprecation-reason'],
    [
      'a deprecation without a date',
      '  zip: String',
      '  zip: String @deprecated(reason: "Use `city`.")',
      'no-restricted-syntax',
    ],
  ])('reports %s', async (_, from, to, rule) => {
    expect(await brokenRules(from, to)).toContain(rule);
  });

  it('accepts a deprecation that names the date', async () => {
    const reason = 'Use `city`; removed on 2027-01-31.';
    expect(await brokenRules('  zip: String', `  zip: String @deprecated(reason: "${reason}")`)).toEqual([]);
  });
});
