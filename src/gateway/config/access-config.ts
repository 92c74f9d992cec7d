import type { KeyObject } from 'node:crypto';
import * as z from 'zod';
import { ConfigError, messageOf } from '../../base/errors.ts';
import type { Prices } from '../../base/money.ts';
import { inFiles, integer, jwksUrl, onOrOff, publicKey, secretList } from '../../base/variables/parsers.ts';
import {
  apiKeyList,
  type CallerLimits,
  callBudget,
  callPrice,
  consent,
  type Scope,
  scopeList,
  toCallBudget,
} from './callers.ts';

/** Who may call, and what each caller may use. */
export type AccessConfig = ReturnType<typeof readAccessConfig>;
export type JwtConfig = NonNullable<AccessConfig['jwt']>;

export const accessVariables = {
  GATEWAY_AUTH: z.literal('none', { error: 'must be "none" or not set' }).optional(),
  GATEWAY_API_KEYS: apiKeyList.optional(),
  GATEWAY_API_KEYS_FILE: z.string().optional(),
  JWT_JWKS_URL: jwksUrl.optional(),
  JWT_PUBLIC_KEY: publicKey.optional().register(inFiles),
  JWT_ISSUER: z.string().optional(),
  JWT_AUDIENCE: z.string().optional(),
  JWT_CALLER_CLAIM: z.string().default('sub'),
  JWT_SCOPES_CLAIM: z.string().default('scope'),
  JWT_LIMITS_CLAIM: z.string().optional(),
  ROUTER_SECRET: secretList.optional().register(inFiles),
  ROUTER_SCOPES: scopeList.default(['bank-data', 'essays']),
  ANONYMOUS_SCOPES: scopeList.optional(),
  CALLER_REQUESTS_PER_MINUTE: integer(1, 10_000_000).optional(),
  BANK_DATA_PRICE: callPrice.optional(),
  ESSAY_PRICE: callPrice.optional(),
  CALLER_BANK_DATA_CALLS: callBudget.optional(),
  CALLER_ESSAY_CALLS: callBudget.optional(),
  MCP_CONSENT: consent.optional(),
  MCP_TOOL_CALLS: integer(0, 1_000_000_000).optional(),
  INTROSPECTION: onOrOff.optional(),
  GRAPHIQL: onOrOff.optional(),
};

type AccessValues = z.infer<z.ZodObject<typeof accessVariables>>;

/** Where callers are configured. */
interface CallerSources {
  apiKeys: readonly unknown[];
  apiKeysFile: string | null;
  jwt: object | null;
  router: object | null;
}

/** Whether any caller can be identified. */
export function hasCallers({ apiKeys, apiKeysFile, jwt, router }: CallerSources): boolean {
  return apiKeys.length > 0 || apiKeysFile !== null || jwt !== null || router !== null;
}

/** @throws ConfigError */
export function readAccessConfig(vars: AccessValues) {
  const callers = {
    apiKeys: vars.GATEWAY_API_KEYS ?? [],
    /** Path of a JSON file with more keys. */
    apiKeysFile: vars.GATEWAY_API_KEYS_FILE ?? null,
    jwt: readJwtConfig(vars),
    /** The secrets with one of which a router signs its requests. */
    router: vars.ROUTER_SECRET ? { secrets: vars.ROUTER_SECRET, scopes: vars.ROUTER_SCOPES } : null,
  };
  const isOpen = !hasCallers(callers);
  if (!isOpen && vars.GATEWAY_AUTH === 'none') throw new ConfigError([contradiction]);
  const openScopes: Scope[] | null = isOpen ? ['bank-data', 'essays'] : null;
  const switches: [Scope, boolean][] = [
    ['introspection', vars.INTROSPECTION ?? isOpen],
    ['graphiql', vars.GRAPHIQL ?? isOpen],
  ];
  const prices: Prices = { 'bank-data': vars.BANK_DATA_PRICE ?? null, essays: vars.ESSAY_PRICE ?? null };
  return {
    ...callers,
    /** Scopes of requests without credentials; null: they are refused. */
    anonymousScopes: vars.ANONYMOUS_SCOPES ?? openScopes,
    /** Granted to every caller. */
    commonScopes: switches.flatMap(([scope, isOn]) => (isOn ? [scope] : [])),
    prices,
    /** Apply where a caller has no limit of its own. */
    defaultLimits: readDefaultLimits(vars, prices),
  };
}

/** @throws ConfigError */
function readDefaultLimits(vars: AccessValues, prices: Prices): CallerLimits {
  try {
    const { CALLER_BANK_DATA_CALLS: bankDataCalls = null, CALLER_ESSAY_CALLS: essayCalls = null } = vars;
    return {
      requestsPerMinute: vars.CALLER_REQUESTS_PER_MINUTE ?? null,
      bankDataCalls: toCallBudget(bankDataCalls, 'CALLER_BANK_DATA_CALLS', 'bank-data', prices),
      essayCalls: toCallBudget(essayCalls, 'CALLER_ESSAY_CALLS', 'essays', prices),
      maxQueryCost: null,
      mcpConsent: vars.MCP_CONSENT,
      mcpToolCalls: vars.MCP_TOOL_CALLS,
    };
  } catch (error) {
    throw new ConfigError([messageOf(error)]);
  }
}

const contradiction =
  'GATEWAY_AUTH: must not be "none" if callers are configured (GATEWAY_API_KEYS, GATEWAY_API_KEYS_FILE, JWT_..., ' +
  'ROUTER_SECRET); ANONYMOUS_SCOPES permits requests without credentials';

function readJwtConfig(vars: AccessValues) {
  const { JWT_JWKS_URL: url, JWT_PUBLIC_KEY: key, JWT_ISSUER: issuer, JWT_AUDIENCE: audience } = vars;
  if (!url && !key && !issuer && !audience) return null;
  // Without an audience, a token for any other service of the issuer would be accepted.
  const missing = [
    ...(url || key ? [] : ['JWT_JWKS_URL']),
    ...(issuer ? [] : ['JWT_ISSUER']),
    ...(audience ? [] : ['JWT_AUDIENCE']),
  ];
  const problems = missing.map(
    (name) => `${name}: missing; tokens need JWT_ISSUER, JWT_AUDIENCE, and JWT_JWKS_URL or JWT_PUBLIC_KEY`,
  );
  if (url && key) problems.push('JWT_PUBLIC_KEY: must not be set together with JWT_JWKS_URL');
  if (problems.length > 0 || !issuer || !audience) throw new ConfigError(problems);
  /** Where the issuer publishes its keys, or its only key. */
  const keys: { url: string } | { publicKey: KeyObject } = key ? { publicKey: key } : { url: url ?? '' };
  return {
    keys,
    issuer,
    audience,
    /** Names of claims, or dotted paths to them. */
    callerClaim: vars.JWT_CALLER_CLAIM,
    scopesClaim: vars.JWT_SCOPES_CLAIM,
    /** Null: tokens contain no limits. */
    limitsClaim: vars.JWT_LIMITS_CLAIM ?? null,
  };
}
