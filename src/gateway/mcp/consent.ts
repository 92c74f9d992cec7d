import { createHmac, hash, randomBytes, randomUUID } from 'node:crypto';
import { createRequestStateCodec, type ServerContext } from '@modelcontextprotocol/server';
import type { ServiceName } from '../../base/errors.ts';
import { countOf } from '../../base/process/terminal.ts';
import type { Caller, ToolLimit } from '../callers/caller.ts';
import { ownerOfTool, type PaidBudgets } from '../callers/paid-budget.ts';
import type { Secrets } from '../stores/sealed-store.ts';
import type { Allowance } from '../upstream/allowance/allowance.ts';
import type { Arguments, Tool } from './tools.ts';

export interface ConsentOptions {
  budgets: Pick<PaidBudgets, 'status'>;
  /** The allowance of each upstream. */
  allowances: readonly Pick<Allowance, 'service' | 'statusWithin'>[];
  /** Services that charge for calls; calls to others need no consent. */
  paidServices: ReadonlySet<ServiceName>;
  /** The same for gateways that share a store: the present one, which seals, first. Null: a new one. */
  secrets: (() => Secrets) | null;
}

/** What a user agreed to, or was asked. */
export interface Seal {
  /** Different for each question: the calls of each consent are counted. */
  id: string;
  kind: 'asked' | 'confirmation';
  /** The hash of day, caller, tool, number of calls and arguments. */
  digest: string;
}

/** Decides which calls of tools a user confirms, and recognizes what was confirmed. What it asks is sealed. */
export function createConsents({ budgets, allowances, paidServices, secrets }: ConsentOptions) {
  const own: Secrets = [randomBytes(32).toString('base64url')];
  const listSecrets = secrets ?? (() => own);

  return {
    verify,
    /** What a user must confirm before this call; null: nothing. */
    async findQuestion(tool: Tool, args: Arguments, caller: Caller): Promise<string | null> {
      const calls = countCalls(tool, args);
      if (calls === 0 || caller.limits.mcpConsent === 'never' || !paidServices.has(tool.service)) return null;
      const free = limitWithoutConsent(tool, caller);
      // While the count is not known, everything is confirmed.
      if (free !== null && ((await countRemaining(free, tool, caller)) ?? 0) >= calls) return null;
      const paid = `${tool.name} makes up to ${countOf(calls, 'paid call')} to the ${tool.service} service`;
      return `${paid}${await describeRemaining(tool.service, caller)}. Make them?`;
    },
    seal: (kind: Seal['kind'], tool: Tool, args: Arguments, caller: Caller) =>
      createCodec(listSecrets()[0]).mint({ id: randomUUID(), kind, digest: digestOf(tool, args, caller) }),
    /** How many calls are left of those confirmed: 0 if this was not sealed for the same call. Null while the count is not known. */
    async countLeft(
      seal: Seal,
      kind: Seal['kind'],
      tool: Tool,
      args: Arguments,
      caller: Caller,
    ): Promise<number | null> {
      if (seal.kind !== kind || seal.digest !== digestOf(tool, args, caller)) return 0;
      return countRemaining(limitOfCall(seal, tool, args), tool, caller);
    },
    /** What limits a call: the cap of its tool, the most that it may cost, and what needs no consent. Undefined: it never calls a service. */
    limitsOf(tool: Tool, args: Arguments, caller: Caller, consent: Seal | null): ToolLimit[] | undefined {
      if (tool.countCalls === null) return undefined;
      const limits: (ToolLimit | null)[] = [capOf(tool, caller)];
      if (paidServices.has(tool.service)) {
        limits.push(limitOfCall(consent, tool, args));
        if (consent === null) limits.push(limitWithoutConsent(tool, caller));
      }
      return limits.filter((limit) => limit !== null);
    },
    /** The seal in an argument; undefined if it is not valid, or has expired. */
    async open(text: unknown, context: ServerContext): Promise<Seal | undefined> {
      return typeof text === 'string' ? verify(text, context).catch(() => undefined) : undefined;
    },
  };

  /** With each of the secrets: another gateway may already seal with the next one. */
  function verify(text: string, context: ServerContext): Promise<Seal> {
    return Promise.any(listSecrets().map((secret) => createCodec(secret).verify(text, context)));
  }

  /** The most that a call may cost. All calls with the same consent have the same id, at each gateway that knows the secret. */
  function limitOfCall(consent: Seal | null, tool: Tool, args: Arguments): ToolLimit {
    const key = `${tool.name} call ${consent?.id ?? randomUUID()}`;
    const ofCall = consent === null || secrets === null ? 'local' : 'shared';
    return { key, maxCalls: countCalls(tool, args), isShown: false, ofCall };
  }

  /** Null while the count is not known. */
  async function countRemaining(limit: ToolLimit, tool: Tool, caller: Caller): Promise<number | null> {
    const status = await budgets.status(ownerOfTool(caller, limit), tool.service);
    return status !== null && 'remaining' in status ? status.remaining : null;
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

export function createCodec(secret: string) {
  const key = createHmac('sha256', secret).update('consent of agents').digest();
  return createRequestStateCodec<Seal>({ key, ttlSeconds });
}

/** How long a user may take to answer. */
const ttlSeconds = 600;

const maxWaitMs = 1_000;

/** With the day, as calls are counted by day: a consent is not used again on the next one. */
function digestOf(tool: Tool, args: Arguments, { id }: Caller): string {
  const day = new Date().toISOString().slice(0, 10);
  // The operator may change the document of a tool, and what it costs.
  return hash('sha256', JSON.stringify([day, id, tool.name, countCalls(tool, args), canonical(args)]));
}

function countCalls({ countCalls }: Tool, args: Arguments): number {
  return countCalls?.(args) ?? 0;
}

function capOf({ name }: Tool, { limits: { mcpToolCalls } }: Caller): ToolLimit | null {
  return mcpToolCalls == null ? null : { key: name, maxCalls: mcpToolCalls, isShown: true };
}

/** Null if each call needs a consent, or none does. */
function limitWithoutConsent({ name }: Tool, { limits: { mcpConsent } }: Caller): ToolLimit | null {
  if (typeof mcpConsent !== 'object' || mcpConsent === null) return null;
  return { key: `${name} without consent`, maxCalls: mcpConsent.above, isShown: false };
}

/** Equal arguments in any order are the same. */
export function canonical(args: Arguments): unknown[] {
  const entries = Object.entries(args).filter(([, value]) => value != null);
  return entries.toSorted(([a], [b]) => (a < b ? -1 : 1));
}
