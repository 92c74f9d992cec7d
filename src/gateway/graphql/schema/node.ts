import { requireScope } from '../../callers/caller.ts';
import { findBank } from './bank.ts';
import { builder, NodeType } from './builder.ts';
import { lookUpCost, paid, personalData } from './directives.ts';
import { bankDataScope, essaysScope, maxLengths, type RequiredScopes, requireText } from './field-checks.ts';
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
      const { services, caller, loaders } = context;
      const isIbanValidation = id.startsWith(ibanIdPrefix);
      const isBank = !isIbanValidation && id.includes(':');
      requireScope(caller, isIbanValidation || isBank ? bankDataScope.scope : essaysScope.scope);
      if (isIbanValidation) {
        const iban = services.ibanIds.read(id);
        return iban === null ? null : loaders.validateIban(iban, needsLookUp(info, 'IbanValidation'));
      }
      if (isBank) return findBank(id, context);
      // The ids of essays are UUIDs, and those of orders are hashes, which may begin like one.
      return uuid.test(id) ? loaders.findEssay(id) : loaders.findOrder(id);
    },
  }),
);

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
