import { createHmac, hash, randomBytes } from 'node:crypto';
import { createRequestStateCodec, type ServerContext } from '@modelcontextprotocol/server';
import type { ServiceName } from '../../base/errors.ts';
import { countOf } from '../../base/process/terminal.ts';
import type { Caller } from '../callers/caller.ts';
import { ownerOfTool, type PaidBudgets } from '../callers/paid-budget.ts';
import type { Allowance } from '../upstream/allowance/allowance.ts';
import type { Arguments, Tool } from './tools.ts';

export interface ConsentOptions {
  budgets: Pick<PaidBudgets, 'status'>;
  /** The allowance of each upstream. */
  allowances: readonly Pick<Allowance, 'service' | 'statusWithin'>[];
  /** Services that charge for calls; calls to others need no consent. */
  paidServices: ReadonlySet<ServiceName>;
  /** The same for gateways that share a store; null: a new one. */
  secret: string | null;
}

/** What a user agreed to, or was asked. */
interface Seal {
  kind: 'asked' | 'confirmation';
  /** The hash of caller, tool and arguments. */
  digest: string;
}

/** Decides which calls of tools a user confirms, and recognizes what was confirmed. Keeps nothing: what it asks is sealed. */
export function createConsents({ budgets, allowances, paidServices, secret }: ConsentOptions) {
  const key = secret === null ? randomBytes(32) : createHmac('sha256', secret).update('consent of agents').digest();
  const codec = createRequestStateCodec<Seal>({ key, ttlSeconds });

  return {
    verify: codec.verify,
    /** What a user must confirm before this call; null: nothing. */
    async findQuestion(tool: Tool, args: Arguments, caller: Caller): Promise<string | null> {
      const calls = tool.countCalls?.(args) ?? 0;
      const consent = caller.limits.mcpConsent ?? 'always';
      if (calls === 0 || consent === 'never' || !paidServices.has(tool.service)) return null;
      if (consent !== 'always' && (await countUsed(tool, caller)) + calls <= consent.above) return null;
      const paid = `${tool.name} makes up to ${countOf(calls, 'paid call')} to the ${tool.service} service`;
      return `${paid}${await describeRemaining(tool.service, caller)}. Make them?`;
    },
    seal: (kind: Seal['kind'], tool: Tool, args: Arguments, caller: Caller) =>
      codec.mint({ kind, digest: digestOf(tool, args, caller) }),
    /** Whether this is what was sealed, of the same call. */
    isSealed: (seal: Seal | undefined, kind: Seal['kind'], tool: Tool, args: Arguments, caller: Caller) =>
      seal?.kind === kind && seal.digest === digestOf(tool, args, caller),
    /** The seal in an argument; undefined if it is not valid, or has expired. */
    async open(text: unknown, context: ServerContext): Promise<Seal | undefined> {
      return typeof text === 'string' ? codec.verify(text, context).catch(() => undefined) : undefined;
    },
  };

  async function countUsed(tool: Tool, caller: Caller): Promise<number> {
    if (caller.tool === undefined) return 0;
    const status = await budgets.status(ownerOfTool(caller, caller.tool), tool.service);
    // While the count is not known, everything is confirmed.
    return status !== null && 'used' in status ? status.used : Number.POSITIVE_INFINITY;
  }

  async function describeRemaining(service: ServiceName, caller: Caller): Promise<string> {
    const own = await budgets.status(caller, service);
    if (own !== null && 'used' in own) {
      return `; ${countOf(own.remaining, 'call')} of the caller's budget remain until ${own.renewsAt.toISOString()}`;
    }
    const allowance = await allowances.find((of) => of.service === service)?.statusWithin(maxWaitMs);
    return allowance?.remaining == null ? '' : `; ${countOf(allowance.remaining, 'call')} of this month remain`;
  }
}

/** How long a user may take to answer. */
const ttlSeconds = 600;

const maxWaitMs = 1_000;

function digestOf({ name }: Tool, args: Arguments, { id }: Caller): string {
  return hash('sha256', JSON.stringify([id, name, canonical(args)]));
}

/** Equal arguments in any order are the same. */
export function canonical(args: Arguments): unknown[] {
  const entries = Object.entries(args).filter(([, value]) => value != null);
  return entries.toSorted(([a], [b]) => (a < b ? -1 : 1));
}
