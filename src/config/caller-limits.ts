import * as z from 'zod';

/** What callers may use. INTROSPECTION, GRAPHIQL, FEDERATION_TRACES and EXPOSE_COST grant the last four to all callers. */
const scopes = ['bank-data', 'essays', 'introspection', 'graphiql', 'traces', 'cost'] as const;
export type Scope = (typeof scopes)[number];

/** Paid calls per calendar day or month (UTC). */
export interface CallBudget {
  calls: number;
  period: 'day' | 'month';
}

/** Null: no limit. */
export interface CallerLimits {
  requestsPerMinute: number | null;
  bankDataCalls: CallBudget | null;
  essayCalls: CallBudget | null;
  /** Used in place of MAX_QUERY_COST. */
  maxQueryCost: number | null;
}

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text);
}

/** Such as bank-data+essays. */
export const scopeList = z
  .string()
  .transform((text) => text.split('+').map((item) => item.trim()))
  .refine((items) => items.every(isScope), `must be scopes separated by +, of ${scopes.join(', ')}`)
  .transform((items) => items.filter(isScope));

/** Such as 1000/day or 20000/month. */
export const callBudget = z
  .string()
  .regex(/^\d{1,9}\/(day|month)$/, 'must be a number of calls per day or month, such as 1000/day or 20000/month')
  .transform((text): CallBudget => {
    const [calls, period] = text.split('/');
    return { calls: Number(calls), period: period === 'day' ? 'day' : 'month' };
  });

/** The limits of one caller in JSON. A missing one is the default of all callers; null means unlimited. */
export const ownLimits = z.strictObject({
  requestsPerMinute: z.int().min(1).max(10_000_000).nullish(),
  bankDataCalls: callBudget.nullish(),
  essayCalls: callBudget.nullish(),
  maxQueryCost: z.int().min(1_000).max(1_000_000_000).nullish(),
});
export type OwnLimits = z.infer<typeof ownLimits>;

export const scopeArray = z.array(z.enum(scopes));
