import { GraphQLList, GraphQLNonNull, type GraphQLOutputType, graphql, isListType, isObjectType } from 'graphql';
import { expect, it, onTestFinished } from 'vitest';
import { schema } from '../../../src/gateway/graphql/schema/schema.ts';
import { tContext } from '../../support/gateway/graphql/documents.ts';
import { createRandomRequests } from '../../support/gateway/graphql/random-documents.ts';
import { texts } from '../../support/gateway/graphql/scripted-services.ts';
import { createRandom, rounds } from '../../support/random.ts';

/* Fields with `@semanticNonNull`, executed as if they could not be null, with services that fail for some values. */

it('a field that is null only with an error is null in no answer without one', async () => {
  const next = createRandomRequests(schema, createRandom(1), texts);
  const marked = makeStrict();
  expect(marked).toContain('IbanValidation.valid');
  let failed = 0;
  for (let number = 0; number < rounds(300); number += 1) {
    const { query, variables, operationName } = next();
    const request = { source: query, variableValues: variables, operationName: operationName ?? null };
    const { errors = [] } = await graphql({ schema, ...request, contextValue: tContext() });
    const nulls = errors.flatMap(
      ({ message }) => /^Cannot return null for non-nullable field (.*)\.$/.exec(message)?.[1] ?? [],
    );
    expect(
      nulls.filter((name) => marked.includes(name)),
      query,
    ).toEqual([]);
    failed += errors.some(({ originalError }) => originalError?.message === 'It failed.') ? 1 : 0;
  }
  expect(failed).toBeGreaterThan(3);
});

/** Changes the types of the schema until the test has finished: other files in its process have the same one. @returns the changed fields */
function makeStrict(): string[] {
  return Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .flatMap((type) =>
      Object.values(type.getFields()).flatMap((field) => {
        const levels = field.extensions.semanticNonNull as number[] | undefined;
        if (levels === undefined) return [];
        const items = isListType(field.type) && levels.includes(1) ? field.type.ofType : null;
        const inner: GraphQLOutputType = items ? new GraphQLList(new GraphQLNonNull(items)) : field.type;
        const { type: before } = field;
        field.type = new GraphQLNonNull(inner);
        onTestFinished(() => {
          field.type = before;
        });
        return [`${type}.${field.name}`];
      }),
    );
}
