import { expect, it } from 'vitest';
import { redactIbans } from '../../../src/base/redact.ts';
import { createCallerFactory } from '../../../src/gateway/callers/caller.ts';

const defaultLimits = { requestsPerMinute: 60, bankDataCalls: null, essayCalls: null, maxQueryCost: 5_000 };
const create = createCallerFactory({ commonScopes: ['introspection'], defaultLimits });

it('callers have the same access key if they may use the same', () => {
  const scopes = ['essays', 'bank-data'] as const;
  const shop = create({ kind: 'api-key', name: 'shop', scopes });
  const same = [
    create({ kind: 'jwt', name: 'anna', scopes: ['bank-data', 'essays', 'essays'] }),
    create({ kind: 'jwt', name: 'ben', scopes: ['introspection', ...scopes], limits: { maxQueryCost: 5_000 } }),
    create({ kind: 'router', name: '', scopes, limits: { requestsPerMinute: null } }),
  ];
  for (const caller of same) expect(caller.accessKey).toBe(shop.accessKey);
  const others = [
    create({ kind: 'api-key', name: 'shop', scopes: ['essays'] }),
    create({ kind: 'api-key', name: 'shop', scopes: [...scopes, 'cost'] }),
    create({ kind: 'api-key', name: 'shop', scopes, limits: { maxQueryCost: null } }),
  ];
  expect(new Set([shop, ...others].map(({ accessKey }) => accessKey)).size).toBe(4);
});

it('names of callers with tokens are readable in the log, which redacts what looks like an IBAN', () => {
  const names = Array.from({ length: 2_000 }, (_, index) => create({ kind: 'jwt', name: `${index}`, scopes: [] }).name);
  expect(names.map(redactIbans)).toEqual(names);
});
