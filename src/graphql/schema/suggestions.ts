import { GatewayError } from '../../errors.ts';
import { suggestIbans } from '../../iban/suggest-ibans.ts';

type IsKnownBank = (country: string, bankCode: string) => boolean;

/** Suggests valid IBANs for an invalid one. @throws GatewayError over the limit of the query */
export type SuggestIbans = (iban: string) => readonly string[];

/** The suggestions of one query: computed once per IBAN, for all aliases. */
export function createSuggestIbans(isKnownBank: IsKnownBank): SuggestIbans {
  let computed: Map<string, readonly string[]> | undefined;
  return (iban) => {
    computed ??= new Map();
    const known = computed.get(iban);
    if (known !== undefined) return known;
    if (computed.size >= maxIbans) throw new GatewayError('BAD_USER_INPUT', tooManyIbans);
    const suggestions = suggestIbans(iban, { isKnownBank });
    computed.set(iban, suggestions);
    return suggestions;
  };
}

/** One takes about 20 µs. */
const maxIbans = 1_000;
const tooManyIbans = `A query may request suggestions for at most ${maxIbans} invalid IBANs; split it into several queries.`;
