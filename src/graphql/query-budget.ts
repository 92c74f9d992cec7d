import { GatewayError } from '../errors.ts';

/** How many of each item one query may request, repeats included: aliases and lists multiply them. */
export interface QueryLimits {
  ibans: number;
  bics: number;
  /** Bank lists and generated IBANs. */
  bankQueries: number;
  essays: number;
}

export interface QueryBudget {
  limits: QueryLimits;
  /** Counts one item; false when the query has none left. */
  spend(item: keyof QueryLimits): boolean;
  /** The error for an item beyond its limit. */
  exceeded(item: keyof QueryLimits): GatewayError;
}

export function createQueryBudget(limits: QueryLimits): QueryBudget {
  const left = { ...limits };
  return {
    limits,
    spend(item) {
      left[item] -= 1;
      return left[item] >= 0;
    },
    exceeded: (item) => new GatewayError('BAD_USER_INPUT', messages[item](limits[item])),
  };
}

const messages: Record<keyof QueryLimits, (limit: number) => string> = {
  ibans: (limit) => `A query may request at most ${limit} IBANs, repeats included; split it into several queries.`,
  bics: (limit) => `A query may request at most ${limit} BICs, repeats included; split it into several queries.`,
  bankQueries: (limit) => `A query may request at most ${limit} bank lists and generated IBANs.`,
  essays: (limit) => `A mutation may order at most ${limit} essays; order the others in another mutation.`,
};
