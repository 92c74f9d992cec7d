import { execute, isInterfaceType, isObjectType, isUnionType, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { schema } from '../../../src/gateway/graphql/schema/schema.ts';
import { tContext } from '../../support/gateway/graphql/outcomes.ts';

/* What mutations return: the result, or a type that implements Error. */

const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});

it.each(mutations)('$name returns a union of one result and of types that implement Error', ({ type }) => {
  const union = 'ofType' in type ? type.ofType : type;
  if (!isUnionType(union)) throw new Error(`${String(type)} must be a union`);
  const errorType = schema.getType('Error');
  if (!isInterfaceType(errorType)) throw new Error('the schema lacks the interface Error');
  const results = union.getTypes().filter((member) => isObjectType(member) && !schema.isSubType(errorType, member));
  expect(results).toHaveLength(1);
  expect(union.getTypes().length).toBeGreaterThan(1);
});

async function mutate(field: string) {
  const contextValue = tContext();
  const document = parse(`mutation { result: ${field} { __typename ... on Error { message }
    ... on EssayCancellation { isCancelled order { id } } ... on EssayDeletion { deletedId } } }`);
  const { data, errors } = await execute({ schema, document, contextValue });
  return { result: data?.result, errors, outcomes: contextValue.requestContext.outcomes };
}

const unknown = {
  __typename: 'EssayOrderNotFound',
  message: 'The order is unknown: it was deleted or has expired, or its id is wrong.',
};
const notEnded = {
  __typename: 'EssayOrderNotEnded',
  message: 'The order has not ended: cancel it, or wait for its end, before you delete it.',
};

describe.each([
  ['cancelEssay(id: "7")', { __typename: 'EssayCancellation', isCancelled: false, order: { id: '7' } }],
  ['cancelEssay(id: "other")', unknown],
  ['deleteEssay(id: "known")', { __typename: 'EssayDeletion', deletedId: 'known' }],
  ['deleteEssay(id: "7")', notEnded],
  ['deleteEssay(id: "other")', unknown],
])('%s', (field, expected) => {
  it(`is ${expected.__typename}, for clients and in the log`, async () => {
    const { result, errors, outcomes } = await mutate(field);
    expect(errors).toBeUndefined();
    expect(result).toEqual(expected);
    expect(outcomes).toEqual([{ type: expected.__typename, code: 'message' in expected ? 'BAD_USER_INPUT' : null }]);
  });
});

it('a failure of the store is null with an error, so that other mutations keep their results', async () => {
  const { result, errors } = await mutate('cancelEssay(id: "failing")');
  expect(result).toBeNull();
  expect(errors).toMatchObject([{ path: ['result'], message: 'the store failed' }]);
});
