import type { Scope } from '../config/caller-limits.ts';
import { GatewayError } from '../errors.ts';
import type { Caller } from './caller.ts';

/** @throws GatewayError with the code FORBIDDEN if the caller may not use this */
export function requireScope({ scopes }: Pick<Caller, 'scopes'>, scope: Scope): void {
  if (!scopes.has(scope))
    throw new GatewayError('FORBIDDEN', `This needs the scope ${scope}, which the caller does not have.`);
}
