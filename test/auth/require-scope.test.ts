import { expect, it } from 'vitest';
import { requireScope } from '../../src/auth/caller.ts';
import type { Scope } from '../../src/config/callers.ts';

it('throws FORBIDDEN without the scope', () => {
  const caller = { scopes: new Set<Scope>(['essays']) };
  expect(() => requireScope(caller, 'essays')).not.toThrow();
  expect(() => requireScope(caller, 'bank-data')).toThrow(
    expect.objectContaining({
      code: 'FORBIDDEN',
      message: 'This needs the scope bank-data, which the caller does not have.',
    }),
  );
});
