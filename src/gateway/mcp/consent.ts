import { createHmac, hash, randomBytes, randomUUID } from 'node:crypto';
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  PROTOCOL_VERSION_META_KEY,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { ServiceName } from '../../base/errors.ts';
import { isObject, readProperty } from '../../base/parse-json.ts';
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

/** A call of a tool by a caller. */
export interface ToolCall {
  tool: Tool;
  args: Arguments;
  caller: Caller;
  /** The most calls that it may pay for. */
  paidCalls: number;
  /** What the agent sends if its client cannot ask the user. */
  confirmation: unknown;
  context: ServerContext;
}

/** What a user was asked. */
interface Seal {
  /** Different for each question: the calls of each consent are counted. */
  id: string;
  digest: string;
}

/** The consent to a call, null if it needs none; or what a user must answer first, or why it is refused. */
type Consent = { granted: Seal | null } | { refused: InputRequiredResult | string };

/** Decides which calls of tools a user confirms, and recognizes what was confirmed. What it asks is sealed. */
export function createConsents({ budgets, allowances, paidServices, secrets }: ConsentOptions) {
  const own: Secrets = [randomBytes(32).toString('base64url')];
  const listSecrets = secrets ?? (() => own);

  return {
    verify,
    async find(call: ToolCall): Promise<Consent> {
      const question = await findQuestion(call);
      if (question === null) return { granted: null };
      const { context, confirmation } = call;
      const { mcpReq } = context;
      const isAsked = canAsk(context);
      const isAnswered = inputResponse(mcpReq.inputResponses, 'consent').kind === 'elicit';
      const seal = isAsked
        ? isAnswered && mcpReq.requestState<Seal>()
        : await verify(String(confirmation), context).catch(() => null);
      const digest = digestOf(call, isAsked);
      // Confirmed calls that are left: none if this was not sealed for the same call.
      const left = seal && seal.digest === digest ? await countRemaining(limitOfCall(seal, call), call) : 0;
      if (left === null) return { refused: notCounted };
      if (seal && left > 0) {
        const isAgreed = !isAsked || acceptedContent(mcpReq.inputResponses, 'consent')?.agree === true;
        return isAgreed ? { granted: seal } : { refused: declined };
      }
      const text = await createCodec(listSecrets()[0]).mint({ id: randomUUID(), digest });
      if (!isAsked) {
        const advice = `Ask the user. If the user agrees, call it again with "confirmation": "${text}".`;
        return { refused: `${question} ${advice}` };
      }
      const consent = inputRequired.elicit({ message: question, requestedSchema: agreement });
      return { refused: inputRequired({ inputRequests: { consent }, requestState: text }) };
    },
    /** What limits a call: the cap of its tool, the most that it may cost, and what needs no consent. Undefined: it never calls a service. */
    limitsOf(call: ToolCall, consent: Seal | null): ToolLimit[] | undefined {
      const { name, service, countCalls } = call.tool;
      const { mcpToolCalls } = call.caller.limits;
      if (countCalls === null) return undefined;
      const isPaid = paidServices.has(service);
      const limits = [
        mcpToolCalls == null ? null : { key: name, maxCalls: mcpToolCalls, isShown: true },
        isPaid ? limitOfCall(consent, call) : null,
        isPaid && consent === null ? limitWithoutConsent(call) : null,
      ];
      return limits.filter((limit) => limit !== null);
    },
  };

  /** With each of the secrets: another gateway may already seal with the next one. */
  function verify(text: string, context: ServerContext): Promise<Seal> {
    return Promise.any(listSecrets().map((secret) => createCodec(secret).verify(text, context)));
  }

  /** What a user must confirm before this call; null: nothing. */
  async function findQuestion(call: ToolCall): Promise<string | null> {
    const { tool, caller, paidCalls } = call;
    if (paidCalls === 0 || caller.limits.mcpConsent === 'never' || !paidServices.has(tool.service)) return null;
    const free = limitWithoutConsent(call);
    // While the count is not known, everything is confirmed.
    if (free !== null && ((await countRemaining(free, call)) ?? 0) >= paidCalls) return null;
    const paid = `${tool.name} makes up to ${countOf(paidCalls, 'paid call')} to the ${tool.service} service`;
    return `${paid}${await describeRemaining(tool.service, caller)}. Make them?`;
  }

  /** The most that a call may cost. All calls with the same consent have the same id, at each gateway that knows the secret. */
  function limitOfCall(consent: Seal | null, { tool, paidCalls }: ToolCall): ToolLimit {
    const key = `${tool.name} call ${consent?.id ?? randomUUID()}`;
    const ofCall = consent === null || secrets === null ? 'local' : 'shared';
    return { key, maxCalls: paidCalls, isShown: false, ofCall };
  }

  /** Null while the count is not known. */
  async function countRemaining(limit: ToolLimit, { tool, caller }: ToolCall): Promise<number | null> {
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

const agreement = {
  type: 'object' as const,
  properties: { agree: { type: 'boolean' as const, title: 'Pay for it', default: false } },
  required: ['agree'],
};

const declined = 'The user has not agreed to the paid calls. Do not try again unless the user asks for it.';

/** Otherwise the user would be asked again and again. */
const notCounted =
  'The paid calls that the user has agreed to are not made, because the store that counts them cannot be reached. Try again later.';

/** Whether the client asks its user. It says so with each request of the newer edition; the older one needs a session. */
function canAsk(context: ServerContext): boolean {
  const elicitation = readCapability(context, 'elicitation');
  // Without further properties, it means forms.
  return isObject(elicitation) && (Object.keys(elicitation).length === 0 || isObject(elicitation.form));
}

/** What the client of this request says about one of its capabilities. In the older edition, it cannot use them without a session. */
export function readCapability({ mcpReq: { envelope } }: ServerContext, name: keyof ClientCapabilities): unknown {
  if (readProperty(envelope, PROTOCOL_VERSION_META_KEY) === undefined) return undefined;
  return readProperty(readProperty(envelope, CLIENT_CAPABILITIES_META_KEY), name);
}

/**
 * The same for equal calls of a day, as calls are counted by day. Other calls may cost more: the operator may change the document of a
 * tool. What a client asks is not what an agent confirms: a client has the seal before its user has answered.
 */
function digestOf(call: ToolCall, isAsked: boolean): string {
  const day = new Date().toISOString().slice(0, 10);
  return hash('sha256', JSON.stringify([isAsked, day, call.caller.id, call.paidCalls, hashOf(call)]));
}

/** Null if each call needs a consent, or none does. */
function limitWithoutConsent({ tool, caller: { limits } }: ToolCall): ToolLimit | null {
  if (typeof limits.mcpConsent !== 'object' || limits.mcpConsent === null) return null;
  return { key: `${tool.name} without consent`, maxCalls: limits.mcpConsent.above, isShown: false };
}

/** Equal for calls of a tool with the same arguments, in any order. */
export function hashOf({ tool, args }: ToolCall): string {
  const entries = Object.entries(args).filter(([, value]) => value != null);
  return hash('sha256', JSON.stringify([tool.name, entries.toSorted(([a], [b]) => (a < b ? -1 : 1))]));
}
