import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../base/errors.ts';
import { noPrices } from '../../base/money.ts';
import type { AccessConfig } from '../config/access-config.ts';
import { type CallerLimits, type OwnLimits, type Scope, toCallBudget } from '../config/callers.ts';
import { createKeyHash } from '../stores/store.ts';

/** Who sent a request, and what the sender may use. */
export interface Caller {
  /** Unique among callers of all kinds. May contain personal data, so it is not logged, and is stored encrypted or as a hash. */
  id: string;
  kind: 'anonymous' | 'api-key' | 'jwt' | 'router';
  /** The name in log and metrics: like `id`, but with a hash of the subject of a token. */
  name: string;
  scopes: ReadonlySet<Scope>;
  limits: CallerLimits;
  /** Equal for callers who may use the same, and who thus get the same replies where no reply depends on the caller. */
  accessKey: string;
  /** Limits of the tool with which an agent acts for the caller, beside those of the caller; undefined outside of MCP. */
  toolLimits?: readonly ToolLimit[] | undefined;
}

/** Paid calls of a tool of the MCP endpoint on a day (UTC). */
export interface ToolLimit {
  /** Unique among the limits of a caller. */
  key: string;
  maxCalls: number;
  /** Whether metrics show what remains. */
  isShown: boolean;
}

interface CallerDescription {
  kind: Caller['kind'];
  /** Unique among callers of this kind; empty if there is only one. */
  name: string;
  scopes: readonly Scope[];
  limits?: OwnLimits;
}

/** @throws Error with a problem of its limits */
export type CreateCaller = (description: CallerDescription) => Caller;

interface CallerFactoryOptions
  extends Pick<AccessConfig, 'commonScopes' | 'defaultLimits'>,
    Partial<Pick<AccessConfig, 'prices'>> {
  /** Hashes the subjects of tokens. Gateways with the same one show the same names. */
  nameSecret?: string;
}

/** Adds what all callers have in common: scopes of the configuration and default limits. */
export function createCallerFactory({
  commonScopes,
  defaultLimits,
  nameSecret = randomUUID(),
  prices = noPrices,
}: CallerFactoryOptions): CreateCaller {
  const hash = createKeyHash(nameSecret);
  return ({ kind, name, scopes, limits = {} }) => {
    const { bankDataCalls, essayCalls } = limits;
    const budgets = {
      bankDataCalls: bankDataCalls && toCallBudget(bankDataCalls, `${name}: bankDataCalls`, 'bank-data', prices),
      essayCalls: essayCalls && toCallBudget(essayCalls, `${name}: essayCalls`, 'essays', prices),
    };
    const ownLimits = Object.entries({ ...limits, ...budgets }).filter(([, limit]) => limit !== undefined);
    const allScopes = new Set([...scopes, ...commonScopes]);
    const allLimits: CallerLimits = { ...defaultLimits, ...Object.fromEntries(ownLimits) };
    const shownName = kind === 'jwt' ? hash(`caller:${name}`).slice(0, hashLength) : name;
    return {
      id: name === '' ? kind : `${kind}:${name}`,
      name: name === '' ? kind : `${kind}:${shownName}`,
      kind,
      scopes: allScopes,
      limits: allLimits,
      accessKey: `${[...allScopes].toSorted().join('+')} ${allLimits.maxQueryCost ?? ''}`,
    };
  };
}

/** 66 bits as base64url. A longer text can look like an IBAN, which the log redacts. */
const hashLength = 11;

/** @throws GatewayError with the code FORBIDDEN if the caller may not use this */
export function requireScope({ scopes }: Pick<Caller, 'scopes'>, scope: Scope): void {
  if (!scopes.has(scope))
    throw new GatewayError('FORBIDDEN', `This needs the scope ${scope}, which the caller does not have.`);
}
