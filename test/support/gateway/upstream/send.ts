import { errors } from 'undici';
import { beforeEach, onTestFinished, vi } from 'vitest';
import type { Signal } from '../../../../src/base/async/signal.ts';
import { parseJson, readProperty } from '../../../../src/base/parse-json.ts';
import { createRedactions } from '../../../../src/base/redact.ts';
import type { Replicas } from '../../../../src/gateway/stores/gateway-count.ts';
import type { Store } from '../../../../src/gateway/stores/store.ts';
import type { Events } from '../../../../src/gateway/telemetry/events.ts';
import { type Allowance, createAllowance } from '../../../../src/gateway/upstream/allowance/allowance.ts';
import type { Reservation } from '../../../../src/gateway/upstream/allowance/period-count.ts';
import type { Connections } from '../../../../src/gateway/upstream/connector.ts';
import type {
  Answered,
  Endpoint,
  Failed,
  FailureReason,
  Outcome,
  Received,
  Refusal,
} from '../../../../src/gateway/upstream/outcome.ts';
import type { PaidCall, Slot } from '../../../../src/gateway/upstream/paid-call.ts';
import type { LinesReader, ReadHeaders } from '../../../../src/gateway/upstream/response.ts';
import { createUpstreamClient, type UpstreamClient } from '../../../../src/gateway/upstream/upstream-client.ts';
import { tRequestContext } from '../callers.ts';
import { createMemoryStore } from '../stores/memory-store.ts';

type TEndpoint = Endpoint<null, unknown>;

const mixedUp = 'the response to another request';
/** What a body of the test says in place of an answer. */
const faultOf = (json: unknown) => (readProperty(json, 'fault') ?? null) as Refusal | null;
const common = {
  isAbout: (body: unknown) => body !== mixedUp,
  read: ({ json, text }: Received) => (faultOf(json) === null ? (json ?? text) : null),
  findFault: ({ json }: Received) => faultOf(json) ?? ('unreadable' as const),
};
export const get: TEndpoint = { ...common, method: 'GET', path: '/thing' };
export const post: TEndpoint = { ...common, method: 'POST', path: '/essay', writeBody: () => ({}) };

export function answered(
  status: number,
  { json = {}, headers = {}, retryAt = null }: Partial<Answered> = {},
): Answered {
  const read = { ...headers, ...(retryAt && { retryAfter: String((retryAt.getTime() - Date.now()) / 1_000) }) };
  const value = status < 400 ? json : null;
  return { kind: 'answered', status, headers: read, retryAt, text: JSON.stringify(json), json, value, fault: null };
}

/** A response with this body, as it is received. */
export function received(status: number, text: string): Answered {
  return {
    kind: 'answered',
    status,
    headers: {},
    retryAt: null,
    text,
    json: parseJson(text),
    value: null,
    fault: null,
  };
}

export function failed(reason: FailureReason): Failed {
  return { kind: 'failed', reason, text: '' };
}

/** Answers a call that was sent, in place of a service. */
export type TSend = (path: string, sentAt: number) => Promise<Answered | Failed>;

/** Returns outcomes from a list, the last one again and again, and records what was sent. */
export function tSend(...outcomes: [Answered | Failed, ...(Answered | Failed)[]]) {
  const sent: { path: string; sentAt: number }[] = [];
  let script = outcomes;
  const send: TSend = async (path, sentAt) => {
    sent.push({ path, sentAt });
    const [first, ...rest] = script;
    if (rest[0] !== undefined) script = [rest[0], ...rest.slice(1)];
    return first;
  };
  return {
    send,
    sent,
    returnsNext(...next: [Answered | Failed, ...(Answered | Failed)[]]) {
      script = next;
    },
  };
}

/** Holds every outcome back until the test returns it. */
export function tHeldSend() {
  const held: { path: string; sentAt: number; returns: (outcome: Answered | Failed) => void }[] = [];
  const send: TSend = (path, sentAt) => new Promise((resolve) => held.push({ path, sentAt, returns: resolve }));
  return { send, held };
}

/** Connections to no service: each call is answered by the function. A call is sent, unless it is `unreachable`. */
function tConnections(send: TSend): Connections {
  return {
    dispatch({ path }, handler) {
      const call = handler as PaidCall<null, unknown>;
      const replay = (outcome: Answered | Failed) => {
        if (outcome.kind === 'failed') return fail(call, outcome.reason);
        const { limitMonth, remainingMonth, retryAfter } = outcome.headers;
        const headers = {
          'x-ratelimit-limit-month': limitMonth,
          'x-ratelimit-remaining-month': remainingMonth,
          'retry-after': retryAfter,
        };
        const sent = Object.entries(headers).filter(([, value]) => value !== undefined);
        call.onHeaders(
          outcome.status,
          sent.flat().map((text) => Buffer.from(String(text))),
        );
        call.onData(Buffer.from(outcome.text));
        call.onComplete();
      };
      let isConnected = false;
      const connect = () => {
        if (!isConnected) call.onConnect((error) => call.onError(error ?? new Error('closed')));
        isConnected = true;
      };
      const answering = send(path, performance.now());
      // The first continuation of a promise that is fulfilled already runs before this one.
      void answering.then((outcome) => {
        if (outcome.kind !== 'failed' || outcome.reason !== 'unreachable') tryTo(connect);
        replay(outcome);
      });
      void Promise.resolve()
        .then(() => Promise.resolve())
        .then(() => tryTo(connect));
      return true;
    },
    close: async () => {},
    destroy: async () => {},
  } as Connections;
}

/** A call that has been given up throws when it would be sent. */
function tryTo(connect: () => void): void {
  try {
    connect();
  } catch {}
}

function fail(call: PaidCall<null, unknown>, reason: FailureReason) {
  if (reason === 'timed-out') return call.expire();
  if (reason === 'invalid') return call.onError(new errors.HTTPParserError('no HTTP'));
  if (reason === 'truncated' || reason === 'too-large') call.onHeaders(500, []);
  if (reason === 'too-large') return void call.onData(Buffer.alloc(maxResponseBytes + 1));
  if (reason === 'unreachable') return call.onError(new Error('connection refused'));
  if (reason !== 'mismatched') return call.onError(new errors.SocketError('other side closed'));
  call.onHeaders(200, []);
  call.onData(Buffer.from(JSON.stringify(mixedUp)));
  call.onComplete();
}

const maxResponseBytes = 10_000;

interface TClientOptions {
  maxConcurrency?: number;
  maxQueue?: number;
  /** Without it, nothing is retried. */
  backoffMs?: number;
  timeoutMs?: number;
  allowance?: Pick<Allowance, 'reserve'>;
  access?: { apiKey: string };
  events?: Partial<Pick<Events, 'circuitChanged' | 'orderCallBegins' | 'callEnded' | 'upstreamOperationEnded'>>;
}

/** A client of no service. */
export function tClient(
  send: TSend,
  { access = { apiKey: 'seeded-key' }, events = {}, ...options }: TClientOptions = {},
): UpstreamClient {
  return createUpstreamClient({
    service: 'bank-data',
    baseUrl: 'http://service.test',
    key: { header: 'apikey', access },
    maxConcurrency: 10_000,
    maxQueue: 0,
    timeoutMs: 10_000,
    backoffMs: 1e12,
    maxResponseBytes,
    redactSecrets: createRedactions([]).redactSecrets,
    allowance: unlimited,
    ...options,
    events: { orderCallBegins() {}, callEnded() {}, upstreamOperationEnded() {}, circuitChanged() {}, ...events },
    connect: () => tConnections(send),
  });
}

type ClientOptions = Parameters<typeof createUpstreamClient>[0];

/** A client of a service over HTTP. Nothing is retried, unless a test has another pause. */
export function tHttpClient(
  baseUrl: string,
  { events = {}, ...options }: Partial<Omit<ClientOptions, 'events'>> & Pick<TClientOptions, 'events'> = {},
) {
  const client = createUpstreamClient({
    ...{ service: 'bank-data', baseUrl, key: { header: 'apikey', access: { apiKey: 'seeded-key' } } },
    ...{ timeoutMs: 10_000, maxResponseBytes: 1_000_000, maxConcurrency: 64, maxQueue: 0, backoffMs: 1e12 },
    allowance: tAllowance({ limit: null }),
    redactSecrets: createRedactions(['seeded-key']).redactSecrets,
    ...options,
    events: { orderCallBegins() {}, callEnded() {}, upstreamOperationEnded() {}, circuitChanged() {}, ...events },
  });
  onTestFinished(() => client.close());
  return { ...client, send: tCaller(client) };
}

/** Makes calls, and sends orders when they are reserved. A call that is abandoned rejects with the reason. */
export function tCaller(client: UpstreamClient) {
  return async (endpoint: TEndpoint = get, context = tRequestContext()): Promise<Outcome> => {
    const outcome = await perform(client, endpoint, context);
    if (outcome.kind === 'abandoned') throw outcome.reason;
    return outcome;
  };
}

async function perform(
  client: UpstreamClient,
  endpoint: TEndpoint,
  context: ReturnType<typeof tRequestContext>,
): Promise<Outcome> {
  if (endpoint.method === 'GET')
    return new Promise((resolve) => client.call(endpoint, null, { batch: client.open(context) }, resolve));
  let step = await client.reserve(endpoint, context);
  while (step.kind === 'slot') step = await step.send(null);
  return step;
}

/** Makes calls without retries; limits that are not configured refuse nothing. */
export function tAttempt(send: TSend, options: TClientOptions = {}) {
  const call = tCaller(tClient(send, options));
  return (endpoint = get, signal: Signal = new AbortController().signal, context = tRequestContext()) =>
    call(endpoint, { ...context, signal });
}

/** Makes calls past a circuit breaker, and records its events. */
export function tBreaker(send: TSend, options: TClientOptions = {}) {
  const events: string[] = [];
  const guarded = tAttempt(send, {
    ...options,
    events: {
      circuitChanged: (_, path, state) => state !== 'half_open' && events.push(`${state} ${path}`),
    },
  });
  const call = (path = get.path, signal?: Signal) => guarded({ ...get, path }, signal);
  const callTimes = async (times: number) => {
    for (let round = 0; round < times; round += 1) await call();
  };
  return { call, callTimes, events };
}

const unlimited: Pick<Allowance, 'reserve'> = {
  reserve: () => ({ kind: 'reserved', release: () => {}, recordAnswer: () => {} }),
};

/** What an order sends. */
export interface TSentOrder {
  method: string;
  path: string;
  body: unknown;
  lines: LinesReader | null;
}

/** Orders that all have this outcome. @param isOpen whether they can be sent in time */
export function tOrders(
  outcome: Outcome,
  { isOpen = true, onSend = () => {} }: { isOpen?: boolean; onSend?: (sent: TSentOrder) => void } = {},
): Pick<UpstreamClient, 'reserve'> {
  return {
    async reserve<Input, Answer>({ method, path, writeBody, lines, read, findFault }: Endpoint<Input, Answer>) {
      if (outcome.kind !== 'answered' && outcome.kind !== 'failed') return outcome;
      const slot: Slot<Input, Answer> = {
        kind: 'slot',
        isOpen: () => isOpen,
        release() {},
        async send(input) {
          const isUnreachable = outcome.kind === 'failed' && outcome.reason === 'unreachable';
          if (!isUnreachable) onSend({ method, path, body: writeBody?.(input), lines: lines?.(input) ?? null });
          if (outcome.kind === 'failed' || outcome.status >= 400) return outcome as Outcome<Answer>;
          const value = read(outcome, input);
          return { ...outcome, value, fault: value === null ? findFault(outcome) : null };
        },
      };
      return slot;
    },
  };
}

interface TAllowanceOptions {
  store?: Store;
  limit?: number | null;
  replicas?: number | Replicas;
  maxWaitMs?: number | null;
}

/** Sets the clock to 21 November 2026 for every test of a file. */
export function useNovember(): void {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-21') });
  });
}

/** The allowance of one process, and the events that it fires. */
export function tAllowance({
  store = createMemoryStore(),
  limit = 100,
  replicas = null,
  maxWaitMs = null,
}: TAllowanceOptions = {}) {
  const fired: string[] = [];
  const allowance = createAllowance({
    service: 'essays',
    limit,
    store,
    replicas: typeof replicas === 'number' ? () => replicas : replicas,
    maxWaitMs,
    events: {
      allowanceNearlyExhausted: (service, percent) => fired.push(`${service}: ${percent} %`),
      allowanceCorrected: () => {},
      allowanceNotStored: (service, reason) => fired.push(`${service}: ${reason}`),
      countRestored: (service, calls) => fired.push(`${service}: restored ${calls}`),
    },
  });
  return { ...allowance, fired };
}

/** Those that were reserved of so many at once. */
export async function reserveMany(allowance: Allowance, number: number): Promise<Reservation[]> {
  const results = await Promise.all(Array.from({ length: number }, () => allowance.reserve()));
  return results.filter((result) => result.kind === 'reserved');
}

export async function reserveOne(allowance: Allowance): Promise<Reservation> {
  const [reservation] = await reserveMany(allowance, 1);
  if (reservation) return reservation;
  throw new Error('the allowance is exhausted');
}

/** An allowance after a call with this answer; no limit is configured by default. */
export async function tAnswered(answer: Answered, options: TAllowanceOptions = {}) {
  const allowance = tAllowance({ limit: null, ...options });
  (await reserveOne(allowance)).recordAnswer(answer);
  return allowance;
}

export function monthHeaders(limit: number, remaining: number): ReadHeaders {
  return { limitMonth: String(limit), remainingMonth: String(remaining) };
}
