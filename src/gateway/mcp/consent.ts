import { createHmac, hash, randomBytes, randomUUID } from 'node:crypto';
import { createRequestStateCodec, type ServerContext } from '@modelcontextprotocol/server';
import type { ServiceName } from '../../base/errors.ts';
import { countOf } from '../../base/process/terminal.ts';
import type { Caller, ToolLimit } from '../callers/caller.ts';
import { ownerOfTool, type PaidBudgets } from '../callers/paid-budget.ts';
import type { Allowance } from '../upstream/allowance/allowance.ts';
import type { Arguments, Tool } from './tools.ts';

export interface ConsentOptions {
  budgets: Pick<PaidBudgets, 'status'>;
  /** The allowance of each upstream. */
  allowances: readonly Pick<Allowance, 'service' | 'statusWithin'>[];
  /** Services that charge for calls; calls to others need no consent. */
  paidServices: ReadonlySet<ServiceName>;
  /** Those of the store, for all gateways that share it: the present one first, which seals. Null: a new one of this process. */
  secrets: (() => readonly string[]) | null;
}

/** A call of a tool. */
export interface ToolCall {
  tool: Tool;
  args: Arguments;
  caller: Caller;
}

/** What a user agreed to, or was asked. */
export interface Seal {
  /** Different for each question: the calls of each consent are counted. */
  id: string;
  kind: 'asked' | 'confirmation';
  /** The hash of day, caller, tool, number of paid calls and arguments. */
  digest: string;
}

/** Decides which calls of tools a user confirms, and recognizes what was confirmed. What it asks is sealed. */
export function createConsents({ budgets, allowances, paidServices, secrets }: ConsentOptions) {
  const own = [randomBytes(32).toString('base64url')];
  const listSecrets = secrets ?? (() => own);

  return {
    verify,
    /** What a user must confirm before this call; null: nothing. */
    async findQuestion(call: ToolCall): Promise<string | null> {
      const { tool, caller } = call;
      const calls = countPaidCalls(call);
      if (calls === 0 || caller.limits.mcpConsent === 'never' || !paidServices.has(tool.service)) return null;
      const free = limitWithoutConsent(call);
      if (free !== null && (await countRemaining(free, call)) >= calls) return null;
      const paid = `${tool.name} makes up to ${countOf(calls, 'paid call')} to the ${tool.service} service`;
      return `${paid}${await describeRemaining(call)}. Make them?`;
    },
    seal: (kind: Seal['kind'], call: ToolCall) =>
      createCodec(listSecrets()[0]).mint({ id: randomUUID(), kind, digest: digestOf(call) }),
    /** Whether this was sealed for the same call, and paid calls that were confirmed are left. */
    async isValid(seal: Seal, kind: Seal['kind'], call: ToolCall): Promise<boolean> {
      if (seal.kind !== kind || seal.digest !== digestOf(call)) return false;
      return (await countRemaining(limitOfCall(seal.id, call), call)) > 0;
    },
    /** What limits a call: the cap of its tool, the most that it may cost, and what needs no consent. Undefined: nothing. */
    limitsOf(call: ToolCall, consent: Seal | null): ToolLimit[] | undefined {
      if (call.tool.countCalls === null) return undefined;
      const limits: (ToolLimit | null)[] = [capOf(call)];
      if (paidServices.has(call.tool.service)) {
        limits.push(limitOfCall(consent?.id ?? randomUUID(), call));
        if (consent === null) limits.push(limitWithoutConsent(call));
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

  /** While the count is not known, none remain, and everything is confirmed. */
  async function countRemaining(limit: ToolLimit, { tool, caller }: ToolCall): Promise<number> {
    const status = await budgets.status(ownerOfTool(caller, limit), tool.service);
    return status !== null && 'remaining' in status ? status.remaining : 0;
  }

  async function describeRemaining({ tool: { service }, caller }: ToolCall): Promise<string> {
    const own = await budgets.status(caller, service);
    if (own !== null && 'used' in own) {
      return `; ${countOf(own.remaining, 'call')} of the caller's budget remain until ${own.renewsAt.toISOString()}`;
    }
    const allowance = await allowances.find((of) => of.service === service)?.statusWithin(maxWaitMs);
    return allowance?.remaining == null ? '' : `; ${countOf(allowance.remaining, 'call')} of this month remain`;
  }
}

function createCodec(secret = '') {
  const key = createHmac('sha256', secret).update('consent of agents').digest();
  return createRequestStateCodec<Seal>({ key, ttlSeconds });
}

/** How long a user may take to answer. */
const ttlSeconds = 600;

const maxWaitMs = 1_000;

/** With the day, as calls are counted by day: a consent is not used again on the next one. */
function digestOf(call: ToolCall): string {
  const day = new Date().toISOString().slice(0, 10);
  // The operator may change the document of a tool, and what it costs.
  const parts = [day, call.caller.id, call.tool.name, countPaidCalls(call), canonical(call.args)];
  return hash('sha256', JSON.stringify(parts));
}

/** The most that a call may pay for. */
function countPaidCalls({ tool, args }: ToolCall): number {
  return tool.countCalls?.(args) ?? 0;
}

function capOf({ tool, caller: { limits } }: ToolCall): ToolLimit | null {
  return limits.mcpToolCalls == null ? null : { key: tool.name, maxCalls: limits.mcpToolCalls, isShown: true };
}

/** Null if each call needs a consent, or none does. */
function limitWithoutConsent({ tool, caller: { limits } }: ToolCall): ToolLimit | null {
  if (typeof limits.mcpConsent !== 'object' || limits.mcpConsent === null) return null;
  return { key: `${tool.name} without consent`, maxCalls: limits.mcpConsent.above, isShown: false };
}

/** The most that a call may cost. All calls with the same consent have the same id. */
function limitOfCall(id: string, call: ToolCall): ToolLimit {
  return { key: `${call.tool.name} call ${id}`, maxCalls: countPaidCalls(call), isShown: false };
}

/** Equal arguments in any order are the same. */
export function canonical(args: Arguments): unknown[] {
  const entries = Object.entries(args).filter(([, value]) => value != null);
  return entries.toSorted(([a], [b]) => (a < b ? -1 : 1));
}
