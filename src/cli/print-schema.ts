import { readFileSync } from 'node:fs';
import type { ConstDirectiveNode, GraphQLObjectType } from 'graphql';
import { builtFile } from '../base/process/package-files.ts';
import type { RequiredScopes } from '../gateway/graphql/schema/field-checks.ts';

/** The files of the package that can be printed, by option; without one, the subgraph. */
const files = {
  client: 'schema.client.graphql',
  possibleTypes: 'possibleTypes.json',
  apollo: 'clients/apollo-cache.js',
  graphcache: 'clients/graphcache.js',
} as const;

type SchemaOptions = Partial<Record<keyof typeof files | 'scopes', boolean>>;

/** Prints a file of the package. */
export async function printSchema(options: SchemaOptions): Promise<void> {
  const names = Object.keys(files) as (keyof typeof files)[];
  const name = names.find((option) => options[option]);
  const text = readFileSync(builtFile(`../${name === undefined ? 'schema.graphql' : files[name]}`), 'utf8');
  process.stdout.write(options.scopes ? await addScopes(text) : text);
}

/** The subgraph with `@requiresScopes` on the fields and entities for which the gateway requires a scope. */
export async function addScopes(sdl: string): Promise<string> {
  const { Kind, parse, parseConstValue, print, visit } = await import('graphql');
  const { schema } = await import('../gateway/graphql/schema/schema.ts');

  const changed = visit(parse(sdl), {
    Directive(node) {
      const imports = node.name.value === 'link' ? node.arguments?.find(({ name }) => name.value === 'import') : null;
      if (imports?.value.kind !== Kind.LIST) return undefined;
      const value = { ...imports.value, values: [...imports.value.values, parseConstValue('"@requiresScopes"')] };
      return { ...node, arguments: node.arguments?.map((one) => (one === imports ? { ...imports, value } : one)) };
    },
    ObjectTypeDefinition(node) {
      const type = schema.getType(node.name.value) as GraphQLObjectType;
      const fields = node.fields?.map((field) => withScopes(field, type.getFields()[field.name.value]?.extensions));
      return withScopes({ ...node, fields }, type.extensions);
    },
  });
  return `${print(changed)}\n`;

  function withScopes<Node extends { directives?: readonly ConstDirectiveNode[] }>(node: Node, extensions = {}): Node {
    const { scope, anyScope = scope === undefined ? [] : [scope] } = extensions as RequiredScopes;
    if (anyScope.length === 0) return node;
    const value = parseConstValue(JSON.stringify(anyScope.map((one) => [one])));
    const scopes = { kind: Kind.ARGUMENT, name: { kind: Kind.NAME, value: 'scopes' }, value } as const;
    const name = { kind: Kind.NAME, value: 'requiresScopes' } as const;
    return { ...node, directives: [...(node.directives ?? []), { kind: Kind.DIRECTIVE, name, arguments: [scopes] }] };
  }
}
