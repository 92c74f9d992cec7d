import { readFileSync } from 'node:fs';
import { getNamedType, isNonNullType, isObjectType, isUnionType } from 'graphql';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { AbortableSignal } from '../../../src/base/async/signal.ts';
import { createCompiler } from '../../../src/gateway/graphql/jit/compiler.ts';
import { createContext } from '../../../src/gateway/graphql/schema/context.ts';
import { schema } from '../../../src/gateway/graphql/schema/schema.ts';
import { tCaller } from '../../support/gateway/callers.ts';
import {
  entities,
  openFields,
  rootFields,
  scopedFields,
  selectionOf,
  tOperation,
} from '../../support/gateway/graphql/documents.ts';
import { tServices } from '../../support/gateway/graphql/scripted-services.ts';

describe('the schema', () => {
  it('declares a scope for every root field and entity that is not open', () => {
    expect(rootFields.map(({ name }) => name)).toEqual(expect.arrayContaining(openFields));
    const scopes = ['bank-data', 'essays', 'introspection'];
    for (const { name, field } of scopedFields) expect(scopes, name).toContain(field.extensions.scope);
    expect(entities.length).toBeGreaterThanOrEqual(3);
    for (const { name, extensions } of entities) expect(extensions.scope, name).toBe('bank-data');
  });

  it('has the scoped fields that the documentation lists as not null', () => {
    const text = readFileSync('docs/security.md', 'utf8').match(/cannot be null: (.*?)\. /s)?.[1] ?? '';
    const listed = [...text.matchAll(/`(\w+\.\w+)`/g)].map(([, name]) => name);
    const notNull = scopedFields.filter(({ field }) => isNonNullType(field.type));
    expect(listed).toEqual(notNull.map(({ name }) => name).toSorted());
  });

  it('reaches no essay through the fields of bank data, and no bank data through those of essays', () => {
    const reachable = (scope: string) => {
      const found = new Set<string>();
      const visit = (type: unknown): void => {
        if (isUnionType(type)) for (const member of type.getTypes()) visit(member);
        if (!isObjectType(type) || found.has(type.name)) return;
        found.add(type.name);
        for (const field of Object.values(type.getFields())) visit(getNamedType(field.type));
      };
      for (const { field } of scopedFields) if (field.extensions.scope === scope) visit(getNamedType(field.type));
      return found;
    };
    const shared = [...reachable('essays')].filter((name) => reachable('bank-data').has(name));
    // It has only cursors.
    expect(shared).toEqual(['PageInfo']);
  });
});

describe('a compiled operation', () => {
  beforeEach(() => {
    // Compiling takes no time, so it is done at once.
    vi.useFakeTimers({ toFake: ['performance'] });
  });

  // Neither mutations nor the schema are compiled.
  const compiled = scopedFields.filter(({ type, field }) => type === 'Query' && field.name !== '_service');
  it.each(compiled)('checks the scope of $name', async ({ field }) => {
    const find = createCompiler(schema).register(tOperation(`{ ${selectionOf(field)} }`), () => {});
    find();
    find();
    const run = await vi.waitUntil(() => find(), { timeout: 100_000 });
    const errorsOf = async (scope: string) => {
      const caller = { ...tCaller, scopes: new Set([...tCaller.scopes].filter((other) => other !== scope)) };
      const result = await run(createContext(tServices(), caller, new AbortableSignal()), {});
      return result?.errors?.map(({ path, originalError }) => [path, Reflect.get(originalError ?? {}, 'code')]);
    };
    expect(await errorsOf(String(field.extensions.scope))).toEqual([[[field.name], 'FORBIDDEN']]);
    expect(JSON.stringify((await errorsOf('cost')) ?? [])).not.toContain('FORBIDDEN');
  });
});
