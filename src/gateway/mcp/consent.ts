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
import { LRUCache } from 'lru-cache';
import type { ServiceName } from '../../base/errors.ts';
import { isObject, parseJson, readProperty } from '../../base/parse-json.ts';
import { countOf } from '../../base/process/terminal.ts';
import type { Caller, ToolLimit } from '../callers/caller.ts';
import { ownerOfTool, type PaidBudgets } from '../callers/paid-budget.ts';
import type { PricedQuote } from '../request-context.ts';
import type { Secrets } from '../stores/sealed-store.ts';
import type { Store } from '../stores/store.ts';
import type { Allowance } from '../upstream/allowance/allowance.ts';
import type { Arguments, Tool } from './tools.ts';

export interface ConsentOptions {
  budgets: Pick<PaidBudgets, 'status'>;
  /** The allowance of each upstream. */
  allowances: readonly Pick<Allowance, 'service' | 'statusWithin'>[];
  /** Services that charge for calls; calls to others need no consent. */
  paidServices: ReadonlySet<ServiceName>;
  /** Has the latest order of each caller, and which consents were used. */
  store: Pick<Store, 'add' | 'get' | 'replace'>;
  /** The same for gateways that share a store: the present one, which seals, first. Null: a new one. */
  secrets: (() => Secrets) | null;
}

/** A call of a tool by a caller. */
export interface ToolCall {
  tool: Tool;
  args: Arguments;
  caller: Caller;
  /** What it would pay for now. */
  quote: PricedQuote;
  /** The order of the caller's agents within the hour that this one may repeat in other words; null: there is none. */
  earlier: EarlierOrder | null;
  /** What the agent sends if its client cannot ask the user. */
  confirmation: unknown;
  context: ServerContext;
}

/** What a user was asked. */
interface Seal {
  /** Different for each question: each consent is used once. */
  id: string;
  digest: string;
  /** The most calls that it pays for. */
  calls: number;
}

/** Whether a user has agreed to a call, or need not; or what a user must answer first, or why it is refused. */
type Consent = { isGranted: boolean } | { refused: InputRequiredResult | string };

/** Decides which calls of tools a user confirms, and recognizes what was confirmed. What it asks is sealed. */
export function createConsents({ budgets, allowances, paidServices, store, secrets }: ConsentOptions) {
  const own: Secrets = [randomBytes(32).toString('base64url')];
  const listSecrets = secrets ?? (() => own);
  /** Those that only this process knows. */
  const used = new LRUCache<string, true>({ max: 100_000 });

  return {
    verify,
    /** Whether its calls are charged. */
    isPaid: ({ isFree, service }: Tool): boolean => !isFree && paidServices.has(service),
    async find(call: ToolCall): Promise<Consent> {
      const question = await findQuestion(call);
      if (question === null) return { isGranted: false };
      const { context, confirmation, quote } = call;
      const { mcpReq } = context;
      const isAsked = canAsk(context);
      const isAnswered = inputResponse(mcpReq.inputResponses, 'consent').kind === 'elicit';
      const seal = isAsked
        ? isAnswered && mcpReq.requestState<Seal>()
        : await verify(String(confirmation), context).catch(() => null);
      const digest = digestOf(call, isAsked);
      if (seal && seal.digest === digest && seal.calls >= callsOf(quote)) {
        const isAgreed = !isAsked || acceptedContent(mcpReq.inputResponses, 'consent')?.agree === true;
        if (!isAgreed) return { refused: declined + describeHandle(call.earlier) };
        const isFirst = await use(seal.id);
        if (isFirst === null) return { refused: notCounted };
        if (isFirst) return { isGranted: true };
      }
      const text = await createCodec(listSecrets()[0]).mint({ id: randomUUID(), digest, calls: callsOf(quote) });
      if (!isAsked) {
        const advice = `Ask the user. If the user agrees, call it again with "confirmation": "${text}".`;
        return { refused: `${question}${describeHandle(call.earlier)} ${advice}` };
      }
      const consent = inputRequired.elicit({ message: question, requestedSchema: agreement });
      return { refused: inputRequired({ inputRequests: { consent }, requestState: text }) };
    },
    /** The limits of a day for a call: the cap of its tool, and what needs no consent. */
    limitsOf(call: ToolCall, isGranted: boolean): ToolLimit[] {
      const { tool, caller } = call;
      const { mcpToolCalls } = caller.limits;
      const cap = mcpToolCalls == null ? null : { key: tool.name, maxCalls: mcpToolCalls, isShown: true };
      const free = isGranted || !paidServices.has(tool.service) ? null : limitWithoutConsent(call);
      return [cap, free].filter((limit) => limit !== null);
    },
  };

  /** With each of the secrets: another gateway may already seal with the next one. */
  function verify(text: string, context: ServerContext): Promise<Seal> {
    return Promise.any(listSecrets().map((secret) => createCodec(secret).verify(text, context)));
  }

  /** Whether a consent was not used before, by any gateway that knows the secret. Null while the store fails. */
  async function use(id: string): Promise<boolean | null> {
    if (secrets === null) return !used.has(id) && used.set(id, true).has(id);
    const count = store.add(`consent:${id}`, 1, { expiresInMs: 2_000 * ttlSeconds });
    return count.then(({ sum }) => sum === 1).catch(() => null);
  }

  /** What a user must confirm before this call; null: nothing. */
  async function findQuestion(call: ToolCall): Promise<string | null> {
    const { tool, args, caller, quote, earlier } = call;
    const calls = callsOf(quote);
    // One that its operator does not permit is refused.
    if (calls === 0 || calls > tool.maxCalls(args)) return null;
    if (earlier === null) {
      if (caller.limits.mcpConsent === 'never') return null;
      const free = limitWithoutConsent(call);
      // While the count is not known, everything is confirmed.
      if (free !== null && ((await countRemaining(free, call)) ?? 0) >= calls) return null;
    }
    const price = quote.price?.length ? ` (${quote.price.join(', ')})` : '';
    const paid = `${tool.name} makes up to ${countOf(calls, 'paid call')} to the ${tool.service} service${price}`;
    const repeated = earlier && ` An order of ${earlier.at} may be the same in other words: ${earlier.text}.`;
    return `${paid}${await describeRemaining(tool.service, caller)}.${repeated ?? ''} Make them?`;
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

/** A tool calls one service. */
export function callsOf({ bankData, essays }: PricedQuote): number {
  return bankData + essays;
}

/** An order that an agent has made without a key of its own. */
interface EarlierOrder {
  idempotencyKey: string;
  /** In ISO 8601. */
  at: string;
  /** The beginning of its arguments. */
  text: string;
}

/** How an agent repeats an order, or reads it, without paying again. */
function describeHandle(earlier: EarlierOrder | null): string {
  return earlier === null
    ? ''
    : ` To repeat the earlier order, call it with "idempotencyKey": "${earlier.idempotencyKey}".`;
}

/** The latest order of each caller's agents and tool: what a model repeats in other words would be paid for twice. While the store fails, none is sent. */
export function createLatestOrders(store: ConsentOptions['store']) {
  return {
    async read({ tool, args, caller }: Pick<ToolCall, 'tool' | 'args' | 'caller'>, { idempotencyKey }: Arguments) {
      const key = `agent-order:${tool.name}:${caller.id}`;
      const seen = await store.get(key).catch(() => null);
      const earlier = seen === null ? null : (parseJson(seen) as EarlierOrder);
      const text = JSON.stringify(args).slice(0, maxShownText);
      const next = JSON.stringify({ idempotencyKey, at: new Date().toISOString(), text });
      const replace = (from: string | null, to: string | null) =>
        store.replace(key, from, to, { expiresInMs: repeatedWithinMs }).catch(() => true);
      return {
        /** Null if there is none, or it is the same. */
        earlier: earlier?.idempotencyKey === idempotencyKey ? null : earlier,
        /** Before the order is sent. False if another one was made meanwhile. */
        replace: () => replace(seen, next),
        /** It was not made. */
        restore: () => replace(next, seen),
      };
    },
  };
}

const repeatedWithinMs = 3_600_000;
const maxShownText = 300;

function createCodec(secret: string) {
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
 * The same for equal calls of a day, as calls are counted by day. What a client asks is not what an agent confirms: a client has the seal
 * before its user has answered.
 */
function digestOf(call: ToolCall, isAsked: boolean): string {
  const day = new Date().toISOString().slice(0, 10);
  return hash('sha256', JSON.stringify([isAsked, day, call.caller.id, call.earlier, hashOf(call)]));
}

/** Null if each call needs a consent, or none does. */
function limitWithoutConsent({ tool, caller: { limits } }: ToolCall): ToolLimit | null {
  if (typeof limits.mcpConsent !== 'object' || limits.mcpConsent === null) return null;
  return { key: `${tool.name} without consent`, maxCalls: limits.mcpConsent.above, isShown: false };
}

/** Equal for calls of a tool with the same arguments, in any order. */
export function hashOf({ tool, args }: Pick<ToolCall, 'tool' | 'args'>): string {
  const entries = Object.entries(args).filter(([, value]) => value != null);
  return hash('sha256', JSON.stringify([tool.name, entries.toSorted(([a], [b]) => (a < b ? -1 : 1))]));
}
