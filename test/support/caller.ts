import type { Admission } from '../../src/auth/admission.ts';
import type { Caller } from '../../src/auth/caller.ts';

/** A caller who may use everything without limits. */
export const tCaller: Caller = {
  id: 'anonymous',
  name: 'anonymous',
  kind: 'anonymous',
  scopes: new Set(['bank-data', 'essays', 'introspection', 'graphiql', 'traces', 'cost']),
  limits: { requestsPerMinute: null, bankDataCalls: null, essayCalls: null, maxQueryCost: null },
  accessKey: '',
};

/** Admits every request. */
export const tAdmission: Admission = { admit: () => tCaller, admitBody: () => tCaller };
