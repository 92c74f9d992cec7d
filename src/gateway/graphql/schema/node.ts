import type { GraphQLResolveInfo } from 'graphql';
import { findBank } from './bank.ts';
import { builder, NodeType } from './builder.ts';
import type { Context } from './context.ts';
import { lookUpCost, paid, personalData } from './directives.ts';
import {
  bankDataScope,
  checkScope,
  essaysScope,
  maxLengths,
  type RequiredScopes,
  requireText,
} from './field-checks.ts';
import { ibanIdPrefix } from './iban-ids.ts';
import { needsLookUp } from './loaders.ts';

builder.queryField('node', (t) =>
  t.field({
    type: NodeType,
    nullable: true,
    extensions: { anyScope: [bankDataScope.scope, essaysScope.scope] } satisfies RequiredScopes,
    // The most that an object costs: the type is not known before the id is read.
    directives: [lookUpCost, paid, personalData],
    description:
      'The object with this id: an IBAN validation, a bank, an essay or an order of this client. With the scopes, limits and calls of ' +
      '`ibanValidation`, `bank`, `essay` and `essayOrder`. Null for an unknown id; null, with an error, when the service or the store fails.',
    args: { id: t.arg.id(requireText('id', maxLengths.nodeId, '`Node.id`.')) },
    resolve(_, { id }, context, info) {
      const { scope, find } = findKind(id);
      checkScope({ extensions: scope }, context);
      return find(id, context, info);
    },
  }),
);

interface NodeKind {
  scope: typeof bankDataScope | typeof essaysScope;
  find(id: string, context: Context, info: GraphQLResolveInfo): object | null | Promise<object | null>;
}

const ibanValidations: NodeKind = {
  scope: bankDataScope,
  find(id, { services, loaders }, info) {
    const iban = services.ibanIds.read(id);
    return iban === null ? null : loaders.validateIban(iban, needsLookUp(info, 'IbanValidation'));
  },
};

const banks: NodeKind = { scope: bankDataScope, find: (id, context) => findBank(id, context) };

const essays: NodeKind = {
  scope: essaysScope,
  find: (id, { services, requestContext }) => services.essayArchive.find(id, requestContext),
};

const orders: NodeKind = {
  scope: essaysScope,
  find: (id, { services, caller }) => services.essayOrders.find(id, caller.id),
};

/** The ids of essays are UUIDs, and those of orders are hashes, which may begin like one. */
function findKind(id: string): NodeKind {
  if (id.startsWith(ibanIdPrefix)) return ibanValidations;
  if (id.includes(':')) return banks;
  return /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(id) ? essays : orders;
}
