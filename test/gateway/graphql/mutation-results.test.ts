import { execute, isInterfaceType, isObjectType, isUnionType, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { schema } from '../../../src/gateway/graphql/schema/schema.ts';
import { tContext } from '../../support/gateway/graphql/documents.ts';

/* What mutations return: the result, or a type that implements Error. */

const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});

it.each(mutations)('$name returns a union of one result and of types that implement Error', ({ type }) => {
  const union = 'ofType' in type ? type.ofType : type;
  if (!isUnionType(union)) throw new Error(`${String(type)} must be a union`);
  const errorType = schema.getType('UserError');
  if (!isInterfaceType(errorType)) throw new Error('the schema lacks the interface Error');
  const results = union.getTypes().filter((member) => isObjectType(member) && !schema.isSubType(errorType, member));
  expect(results).toHaveLength(1);
  expect(union.getTypes().length).toBeGreaterThan(1);
});

async function mutate(field: string) {
  const contextValue = tContext();
  const document = parse(`mutation { result: ${field} { __typename ... on UserError { message }
    ... on EssayCancellation { order { id } } ... on EssayOrderNotCancellable { order { id } mayHaveBeenPaid } ... on EssayDeletion { deletedId } } }`);
  const { data, errors } = await execute({ schema, document, contextValue });
  return { result: data?.result, errors, outcomes: contextValue.requestContext.outcomes };
}

const unknown = {
  __typename: 'EssayOrderNotFound',
  message: 'The order is unknown: it was deleted or has expired, or its id is wrong.',
};
const notCancellable = {
  __typename: 'EssayOrderNotCancellable',
  message: 'The order was sent and may be paid for, so it is completed and kept.',
  order: { id: '7' },
  mayHaveBeenPaid: true,
};
const notEnded = {
  __typename: 'EssayOrderNotEnded',
  message: 'The order has not ended: cancel it, or wait for its end, before you delete it.',
};

describe.each([
  ['cancelEssayOrder(id: "8")', { __typename: 'EssayCancellation', order: { id: '8' } }],
  ['cancelEssayOrder(id: "7")', notCancellable],
  [
    'cancelEssayOrder(id: "known")',
    {
      ...notCancellable,
      order: { id: 'known' },
      message: 'The order has ended, so it cannot be cancelled any more.',
    },
  ],
  ['cancelEssayOrder(id: "other")', unknown],
  ['deleteEssayOrder(id: "known")', { __typename: 'EssayDeletion', deletedId: 'known' }],
  ['deleteEssayOrder(id: "7")', notEnded],
  ['deleteEssayOrder(id: "other")', unknown],
])('%s', (field, expected) => {
  it(`is ${expected.__typename}, for clients and in the log`, async () => {
    const { result, errors, outcomes } = await mutate(field);
    expect(errors).toBeUndefined();
    expect(result).toEqual(expected);
    // A cancellation that is too late is no mistake of the client.
    const isMistake = 'message' in expected && expected.__typename !== notCancellable.__typename;
    expect(outcomes).toEqual([{ type: expected.__typename, code: isMistake ? 'BAD_USER_INPUT' : null }]);
  });
});

it('a failure of the store is null with an error, so that other mutations keep their results', async () => {
  const { result, errors } = await mutate('cancelEssayOrder(id: "failing")');
  expect(result).toBeNull();
  expect(errors).toMatchObject([{ path: ['result'], message: 'the store failed' }]);
});
