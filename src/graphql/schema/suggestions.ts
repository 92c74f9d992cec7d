import { GatewayError } from '../../errors.ts';
import { suggestIbans } from '../../iban/suggest-ibans.ts';
import type { Context } from './context.ts';

/** Suggests valid IBANs for an invalid one, once per query, for all aliases. @throws GatewayError over the limit of the query */
export function suggestOnce(iban: string, { suggestions, services }: Context): readonly string[] {
  const known = suggestions.get(iban);
  if (known !== undefined) return known;
  if (suggestions.size >= maxIbans) throw new GatewayError('BAD_USER_INPUT', tooManyIbans);
  const suggested = suggestIbans(iban, services);
  suggestions.set(iban, suggested);
  return suggested;
}

const maxIbans = 1_000;
const tooManyIbans = `A query may request suggestions for at most ${maxIbans} invalid IBANs; split it into several queries.`;
