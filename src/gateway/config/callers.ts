import * as z from 'zod';
import type { Period } from '../../base/calendar-period.ts';
import type { ServiceName } from '../../base/errors.ts';
import { formatMoney, type Money, type Prices, parseMoney } from '../../base/money.ts';

/** What callers may use. INTROSPECTION and GRAPHIQL grant these two to all callers. */
const scopes = ['bank-data', 'essays', 'introspection', 'graphiql', 'traces', 'cost'] as const;
export type Scope = (typeof scopes)[number];

/** Null: no limit. */
export interface CallerLimits {
  requestsPerMinute: number | null;
  bankDataCalls: CallBudget | null;
  essayCalls: CallBudget | null;
  /** Used in place of MAX_QUERY_COST. */
  maxQueryCost: number | null;
  /** When a user confirms the paid calls of an agent; without it, each time. */
  mcpConsent?: Consent | null | undefined;
  /** Paid calls per day (UTC) of each tool of an agent. */
  mcpToolCalls?: number | null | undefined;
}

/** Whether a user confirms a paid tool: each time, never, or from when the paid calls of a tool and day exceed a number. */
export type Consent = 'always' | 'never' | { above: number };

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text);
}

/** Such as bank-data+essays. */
export const scopeList = z
  .string()
  .transform((text) => text.split('+').map((item) => item.trim()))
  .refine((items) => items.every(isScope), `must be scopes separated by +, of ${scopes.join(', ')}`)
  .transform((items) => items.filter(isScope));

/** Paid calls per calendar day or month (UTC). */
export interface CallBudget {
  calls: number;
  period: Period;
  /** Of a budget in money: what a call costs. It is counted in millionths, so that another price changes only what is left. */
  price?: Money | undefined;
}

/** As it is configured: calls, or money. */
type GivenBudget = { calls: number; period: Period } | { money: Money; period: Period };
/** Such as 1000/day, 20000/month or 100 EUR/month. */
export const callBudget = z.string().transform((text, context): GivenBudget => {
  const [, calls, amount = '', period] = /^(?:(\d{1,9})|(.+))\/(day|month)$/.exec(text) ?? [];
  if (calls !== undefined) return { calls: Number(calls), period: period as Period };
  const money = parseMoney(amount);
  if (money !== null) return { money, period: period as Period };
  context.addIssue('must be calls or money per day or month, such as 1000/day, 20000/month or 100 EUR/month');
  return z.NEVER;
});

/** The price of a call, such as 0.01 EUR. */
export const callPrice = z.string().transform((text, context): Money => {
  const money = parseMoney(text);
  if (money !== null) return money;
  context.addIssue('must be an amount above 0 with at most six decimals and a currency, such as 0.01 EUR');
  return z.NEVER;
});

/** @param name for the message @throws Error if a budget is in money, and its service has no price in this currency */
export function toCallBudget(given: GivenBudget | null, name: string, service: ServiceName, prices: Prices) {
  if (given === null || 'calls' in given) return given;
  const price = prices[service];
  const { money, period } = given;
  if (price?.currency === money.currency)
    return { calls: Math.floor(money.millionths / price.millionths), period, price };
  const variable = service === 'essays' ? 'ESSAY_PRICE' : 'BANK_DATA_PRICE';
  const present = price === null ? 'is not set' : `is ${formatMoney(price)}`;
  throw new Error(
    `${name}: a budget of ${formatMoney(money)} needs the price of a call in ${money.currency}, but ${variable} ${present}`,
  );
}

/** Such as above:20. */
export const consent = z
  .string()
  .regex(/^(always|never|above:\d{1,9})$/, 'must be always, never, or above: and a number of calls, such as above:20')
  .transform((text): Consent => {
    const [word, calls] = text.split(':');
    return calls === undefined ? (word === 'never' ? 'never' : 'always') : { above: Number(calls) };
  });

/** The limits of one caller in JSON. A missing one is the default of all callers; null means unlimited. */
export const ownLimits = z.strictObject({
  requestsPerMinute: z.int().min(1).max(10_000_000).nullish(),
  bankDataCalls: callBudget.nullish(),
  essayCalls: callBudget.nullish(),
  maxQueryCost: z.int().min(1_000).max(1_000_000_000).nullish(),
  mcpConsent: consent.nullish(),
  mcpToolCalls: z.int().min(0).max(1_000_000_000).nullish(),
});
export type OwnLimits = z.infer<typeof ownLimits>;

/** One API key. Several keys of one name belong to the same caller, so that keys can be replaced one after the other. */
export interface ApiKeyEntry {
  name: string;
  /** The SHA-256 hash of the key, in lower-case hexadecimal digits. */
  sha256: string;
  scopes: readonly Scope[];
  limits: OwnLimits;
}

const name = z.string().regex(/^[\w.-]{1,64}$/, 'names must have 1 to 64 letters, digits, dots, - and _');
const sha256 = z
  .string()
  .regex(
    /^[\da-f]{64}$/i,
    'must contain the SHA-256 hash of each key as 64 hexadecimal digits: ledgerquill api-key NAME',
  )
  .toLowerCase();

const format = 'must be entries name:sha256-hex:scope+scope, separated by commas';
const isUnique = (entries: ApiKeyEntry[]) => new Set(entries.map((entry) => entry.sha256)).size === entries.length;
const isUsedTwice = 'must contain the hash of each key only once';

/** The format of GATEWAY_API_KEYS: name:sha256-hex:scope+scope,... */
export const apiKeyList = z
  .string()
  .transform((text) => text.split(',').map((entry) => entry.trim().split(':')))
  .refine((entries) => entries.every((parts) => parts.length === 3), { error: format, abort: true })
  .transform((entries, context): ApiKeyEntry[] => {
    const parsed = z.array(z.tuple([name, sha256, scopeList])).safeParse(entries);
    if (parsed.success) return parsed.data.map(([name, sha256, scopes]) => ({ name, sha256, scopes, limits: {} }));
    for (const message of new Set(parsed.error.issues.map((issue) => issue.message))) context.addIssue(message);
    return z.NEVER;
  })
  .refine(isUnique, isUsedTwice);

const text = z.string().min(1).max(2_000);

/** Callers with tokens who are refused, whatever their tokens say: subjects (JWT_CALLER_CLAIM) and issuers. */
export type BlockedCallers = z.infer<typeof blockedCallers>;
const blockedCallers = z.strictObject({ subjects: z.array(text).default([]), issuers: z.array(text).default([]) });

/** The format of the file GATEWAY_API_KEYS_FILE. */
export const apiKeyDocument = z.strictObject({
  keys: z
    .array(z.strictObject({ name, sha256, scopes: z.array(z.enum(scopes)), limits: ownLimits.default({}) }))
    .transform((keys): ApiKeyEntry[] => keys)
    .refine(isUnique, isUsedTwice),
  blocked: blockedCallers.default({ subjects: [], issuers: [] }),
});
