import { GatewayError } from '../errors.ts';

/** Maximum number of each kind per query, duplicates included: aliases and lists multiply them. */
export interface QueryLimits {
  ibans: number;
  bics: number;
  /** Bank lists and generated IBANs. */
  bankQueries: number;
  essays: number;
  /** Texts of essays in the response. */
  essayTexts: number;
  /** Representations of a router. */
  entities: number;
}

export interface QueryBudget {
  limits: QueryLimits;
  /** Counts one or more; false if the limit is exceeded. */
  spend(kind: keyof QueryLimits, count?: number): boolean;
  createLimitError(kind: keyof QueryLimits): GatewayError;
}

export function createQueryBudget(limits: QueryLimits): QueryBudget {
  const remaining = { ...limits };
  return {
    limits,
    spend(kind, count = 1) {
      remaining[kind] -= count;
      return remaining[kind] >= 0;
    },
    createLimitError: (kind) => new GatewayError('BAD_USER_INPUT', messages[kind](limits[kind])),
  };
}

const messages: Record<keyof QueryLimits, (limit: number) => string> = {
  ibans: (limit) => `A query may request at most ${limit} IBANs, duplicates included; split it into several queries.`,
  bics: (limit) => `A query may request at most ${limit} BICs, duplicates included; split it into several queries.`,
  bankQueries: (limit) =>
    `A query may request at most ${limit} bank lists and generated IBANs in total; split it into several queries.`,
  entities: (limit) =>
    `A query may request at most ${limit} entities (MAX_ENTITIES_PER_QUERY); split it into several queries.`,
  essayTexts: (limit) => `A response may contain at most ${limit} texts of essays, aliases included.`,
  essays: (limit) => `A mutation may order at most ${limit} essays; order the others in another mutation.`,
};
