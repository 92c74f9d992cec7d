import { GatewayError } from '../../../base/errors.ts';
import type { Config } from '../../config/read-config.ts';

/** Maximum number of each kind per query, duplicates included: aliases and lists multiply them. */
export interface QueryLimits {
  ibans: number;
  bics: number;
  /** Bank lists and generated IBANs. */
  bankQueries: number;
  essays: number;
  /** Texts of essays in the response. */
  essayTexts: number;
  /** Entries of the list of orders, each of them once. */
  listedOrders: number;
  /** Bytes of orders and essays that are read from the store, each of them once. */
  storedBytes: number;
  /** Representations of a router. */
  entities: number;
  /** IBANs for which suggestions are computed, each of them once. */
  suggestions: number;
}

export function readQueryLimits({ maxIbansPerQuery }: Pick<Config, 'maxIbansPerQuery'>): QueryLimits {
  return {
    ibans: maxIbansPerQuery,
    bics: maxIbansPerQuery,
    bankQueries: 20,
    essayTexts: 20,
    listedOrders: 2_000,
    storedBytes: 32_000_000,
    essays: 5,
    entities: 1_000,
    suggestions: 1_000,
  };
}

/** Counts what one query takes of its limits. */
export class QueryLimiter {
  readonly limits: QueryLimits;
  readonly #taken: Partial<Record<keyof QueryLimits, number>> = {};

  constructor(limits: QueryLimits) {
    this.limits = limits;
  }

  /** Counts one or more. @throws GatewayError if the limit is exceeded */
  take(kind: keyof QueryLimits, count = 1): void {
    if (!this.tryTake(kind, count)) throw this.createLimitError(kind);
  }

  /** The same, without an error. @returns false if the limit is exceeded */
  tryTake(kind: keyof QueryLimits, count = 1): boolean {
    const sum = (this.#taken[kind] ?? 0) + count;
    this.#taken[kind] = sum;
    return sum <= this.limits[kind];
  }

  createLimitError(kind: keyof QueryLimits): GatewayError {
    return new GatewayError('BAD_USER_INPUT', messages[kind](this.limits[kind]));
  }
}

const messages: Record<keyof QueryLimits, (limit: number) => string> = {
  ibans: (limit) => `A query may request at most ${limit} IBANs, duplicates included; split it into several queries.`,
  bics: (limit) => `A query may request at most ${limit} BICs, duplicates included; split it into several queries.`,
  bankQueries: (limit) =>
    `A query may request at most ${limit} bank lists and generated IBANs in total; split it into several queries.`,
  entities: (limit) => `A query may request at most ${limit} entities; split it into several queries.`,
  suggestions: (limit) =>
    `A query may request suggestions for at most ${limit} invalid IBANs; split it into several queries.`,
  essayTexts: (limit) => `A response may contain at most ${limit} texts of essays, aliases included.`,
  listedOrders: (limit) => `A query may read at most ${limit} orders of the list; list the others in another query.`,
  storedBytes: (limit) =>
    `A query may read at most ${limit} bytes of stored orders and essays; read the others in another query.`,
  essays: (limit) => `A mutation may order at most ${limit} essays; order the others in another mutation.`,
};
