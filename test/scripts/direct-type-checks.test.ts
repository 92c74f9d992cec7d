import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { directTypeChecks } from '../../scripts/direct-type-checks.ts';

it('compares types of GraphQL.js with their classes in place', async () => {
  const contents =
    "import { isListType, GraphQLList, GraphQLString } from 'graphql'; export { isListType, GraphQLList, GraphQLString };";
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname, loader: 'ts' },
    bundle: true,
    write: false,
    format: 'esm',
    mainFields: ['module', 'main'],
    plugins: [directTypeChecks],
  });
  const code = outputFiles[0]?.text ?? '';
  expect(code).toContain('return type instanceof GraphQLList;');
  expect(code).not.toMatch(/\binstanceOf\(type/);
  const { isListType, GraphQLList, GraphQLString } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  expect(isListType(new GraphQLList(GraphQLString))).toBe(true);
  expect(isListType(GraphQLString)).toBe(false);
});
