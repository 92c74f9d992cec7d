import type { Access } from '../../src/gateway/callers/access.ts';
import type { Caller } from '../../src/gateway/callers/caller.ts';

/** A caller who may use everything without limits. */
export const tCaller: Caller = {
  id: 'anonymous',
  name: 'anonymous',
  kind: 'anonymous',
  scopes: new Set(['bank-data', 'essays', 'introspection', 'graphiql', 'traces', 'cost']),
  limits: { requestsPerMinute: null, bankDataCalls: null, essayCalls: null, maxQueryCost: null },
  accessKey: '',
};

/** Every request is one of this caller. */
export const tAccess: Pick<Access, 'identifyAndCount' | 'identifySignedAndCount' | 'confirm'> = {
  identifyAndCount: () => tCaller,
  identifySignedAndCount: () => tCaller,
  confirm: async () => true,
};
