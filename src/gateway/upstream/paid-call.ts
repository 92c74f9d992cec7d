import type { Dispatcher } from 'undici';
import { errorCodeOf, type ServiceName } from '../../base/errors.ts';
import type { RedactSecrets } from '../../base/redact.ts';
import type { BudgetExhausted, RequestContext } from '../request-context.ts';
import type { CallCause, CallInfo, Events } from '../telemetry/events.ts';
import type { CallSpan } from '../trace.ts';
import type { Reservation, Reserved } from './allowance/period-count.ts';
import type { Batch } from './batch.ts';
import type { Circuit } from './circuit.ts';
import type { Connections } from './connector.ts';
import { type Endpoint, type FailureReason, maxRetries, type Outcome, readAnswer, refusalOf, shed } from './outcome.ts';
import type { CallQueue, QueuedCall } from './queue.ts';
import { ArrivingResponse, isInvalidHttp } from './response.ts';

/** A place among the calls in flight, with a call that is counted. An order is stored as sent, and then sent. */
export interface Slot<Input, Answer> {
  kind: 'slot';
  /** Whether it can be sent: in time, and for a caller who has not left. */
  isOpen(): boolean;
  /** @returns the outcome; or a slot to send it again, if it was definitely not accepted */
  send(input: Input): Promise<Outcome<Answer> | Slot<Input, Answer>>;
  /** Gives the place back: the call is not sent. */
  release(): void;
}

/** What the calls to one service have in common. */
export interface CallService {
  service: ServiceName;
  origin: string;
  /** Before each path. */
  basePath: string;
  /** Whether the service runs inside the process: then it receives the trace context of a request. */
  isSelfHosted: boolean;
  headers(): readonly string[];
  maxResponseBytes: number;
  backoffMs: number;
  redactSecrets: RedactSecrets;
  queue: CallQueue;
  circuitOf(path: string): Circuit;
  /** Counts a call in the caller's own budget, if there is one, and in the allowance. It does not reject. */
  reserve(context: RequestContext): Reserved | BudgetExhausted | Promise<Reserved | BudgetExhausted>;
  connectionsOf(method: 'GET' | 'POST'): Connections;
  /** The service, or a proxy before it, has mixed up responses: the kept connections are not used again. */
  replaceConnections(): void;
  /** A failing upstream must not receive a multiple of its normal load. @returns whether one more retry may be made */
  takeRetry(): boolean;
  events: Pick<Events, 'orderCallBegins' | 'callEnded' | 'upstreamOperationEnded'>;
  nameOutcome(outcome: Outcome): Parameters<Events['upstreamOperationEnded']>[1];
}

type Settle<Input, Answer> = (result: Outcome<Answer> | Slot<Input, Answer>) => void;

/**
 * A call that is paid for, with its retries: `queued`, until it has a place among the calls in flight; `counting`, while a store counts
 * it; `reserved`, while an order is stored; `sending`, `reading`; `pausing` before a retry; and `ended`. It is undici's handler, with
 * the functions of older ones: undici 7, the last version for Node.js 20, wraps newer handlers.
 */
export class PaidCall<Input, Answer> implements Dispatcher.DispatchHandler, QueuedCall, CallInfo, Slot<Input, Answer> {
  readonly kind = 'slot';
  #stage: 'queued' | 'counting' | 'reserved' | 'sending' | 'reading' | 'pausing' | 'ended' = 'queued';
  readonly #service: CallService;
  readonly #endpoint: Endpoint<Input, Answer>;
  readonly #batch: Batch;
  readonly #cause: CallCause;
  /** Of a look-up from the beginning, of an order when it is sent. */
  #input: Input | undefined;
  #settle: Settle<Input, Answer>;
  #retries = 0;
  /** Of the last attempt, if there is a retry. */
  #outcome: Outcome<Answer> | null = null;
  #pause: NodeJS.Timeout | undefined;
  // The rest is of one attempt.
  #hasPlace = false;
  #passed: Extract<ReturnType<Circuit['enter']>, { kind: 'passed' }> | null = null;
  #reservation: Reservation | null = null;
  #span: CallSpan | null = null;
  #startedAt = 0;
  #isSent = false;
  #close: ((error: Error) => void) | null = null;
  /** Why it is closed. */
  #reason: FailureReason | null = null;
  #infos = 0;
  /** As far as it has arrived. */
  #response: ArrivingResponse | null = null;

  /** @param input undefined for an order, which is settled with a slot @param settle called with the outcome, once */
  constructor(
    service: CallService,
    endpoint: Endpoint<Input, Answer>,
    input: Input | undefined,
    batch: Batch,
    cause: CallCause,
    settle: Settle<Input, Answer>,
  ) {
    this.#service = service;
    this.#endpoint = endpoint;
    this.#input = input;
    this.#batch = batch;
    this.#cause = cause;
    this.#settle = settle;
  }

  get service(): ServiceName {
    return this.#service.service;
  }
  get method(): 'GET' | 'POST' {
    return this.#endpoint.method;
  }
  get path(): string {
    return this.#endpoint.path;
  }
  get origin(): RequestContext['origin'] {
    return this.#batch.context.origin;
  }
  get cause(): CallCause {
    return this.#retries > 0 ? 'retry' : this.#cause;
  }
  get callerId(): string {
    return this.#batch.context.callerId;
  }
  get requestKey(): symbol {
    return this.#batch.context.requestKey;
  }

  start() {
    const { signal } = this.#batch.context;
    if (signal.aborted) return this.#end({ kind: 'abandoned', reason: signal.reason });
    if (this.#batch.hasExpired()) return this.#end(shed);
    this.#batch.add(this);
    this.#enter();
  }

  #enter(): void {
    this.#stage = 'queued';
    if (!this.#service.queue.enter(this)) this.#endAttempt(shed);
  }

  /**
   * What changes while a call waits is checked when it has its place. A read then has only the remaining time; for an order the deadline
   * restarts.
   */
  begin() {
    this.#hasPlace = true;
    if (this.#batch.hasExpired()) return this.#endAttempt(shed);
    if (this.method === 'POST') this.#batch.restart();
    const passed = this.#service.circuitOf(this.path).enter();
    if (passed.kind !== 'passed') return this.#endAttempt(passed as Outcome<Answer>);
    this.#passed = passed;
    this.#stage = 'counting';
    const reserving = this.#service.reserve(this.#batch.context);
    if (reserving instanceof Promise) void reserving.then((reserved) => this.#onReserved(reserved));
    else this.#onReserved(reserving);
  }

  evict(): void {
    this.#endAttempt(shed);
  }

  #onReserved(reserved: Reserved | BudgetExhausted) {
    // It has expired, or its caller has left.
    if (this.#stage !== 'counting') {
      if (reserved.kind === 'reserved') reserved.release();
      return;
    }
    if (reserved.kind !== 'reserved') return this.#endAttempt(reserved);
    this.#reservation = reserved;
    this.#stage = 'reserved';
    if (this.method === 'POST') this.#settle(this);
    else this.#send();
  }

  isOpen(): boolean {
    return this.#stage === 'reserved';
  }

  send(input: Input): Promise<Outcome<Answer> | Slot<Input, Answer>> {
    return new Promise((resolve) => {
      if (this.#stage !== 'reserved') return resolve(this.#outcome ?? shed);
      this.#input = input;
      this.#settle = resolve;
      this.#service.events.orderCallBegins(this);
      this.#send();
    });
  }

  release(): void {
    if (this.#stage === 'reserved') this.#endAttempt(shed);
  }

  #send(): void {
    const { context } = this.#batch;
    const { service, origin, basePath, isSelfHosted } = this.#service;
    const { method, path, writeQuery, writeBody } = this.#endpoint;
    const input = this.#input as Input;
    this.#stage = 'sending';
    this.#startedAt = performance.now();
    this.#span = context.trace?.startCall({ service, method, path, retries: this.#retries }) ?? null;
    const lines = this.#endpoint.lines?.(input) ?? null;
    this.#response = new ArrivingResponse(this.#service, lines);
    const headers = ['accept', lines === null ? 'application/json' : linesOrJson, ...this.#service.headers()];
    if (writeBody !== undefined) headers.push('content-type', 'application/json');
    if (this.#span !== null && isSelfHosted) headers.push(...this.#span.headers);
    this.#service.connectionsOf(method).dispatch(
      {
        // Otherwise undici composes it for each call.
        origin,
        method,
        path: basePath + path + (writeQuery === undefined ? '' : `?${writeQuery(input)}`),
        headers,
        body: writeBody === undefined ? null : JSON.stringify(writeBody(input)),
      },
      this,
    );
  }

  /** Undici calls it immediately before it sends. If it throws, nothing is sent, and the connection remains open. */
  onConnect(close: (error?: Error) => void): void {
    if (this.#stage !== 'sending') throw abandoned;
    this.#isSent = true;
    const { usage } = this.#batch.context;
    usage.upstreamCalls += 1;
    if (this.service === 'essays') usage.essayCalls += 1;
    this.#close = close;
  }

  onHeaders(status: number, rawHeaders: Buffer[]): boolean {
    if (this.#stage !== 'sending') return true;
    if (status < 200) {
      this.#infos += 1;
      // An upstream could send interim responses until the deadline.
      if (this.#infos > maxInfos) throw tooManyInfos;
      return true;
    }
    this.#stage = 'reading';
    this.#response?.begin(status, rawHeaders);
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.#stage === 'reading' && !this.#response?.add(chunk)) this.#fail('too-large');
    return true;
  }

  onComplete() {
    const response = this.#response;
    if (this.#stage !== 'reading' || response === null) return;
    const body = response.read();
    if (body === null) return this.#fail('truncated');
    const input = this.#input as Input;
    if (response.status === 200 && this.#endpoint.isAbout?.(body.json, input) === false) {
      this.#service.replaceConnections();
      return this.#endAttempt({ kind: 'failed', reason: 'mismatched', text: '' });
    }
    this.#endAttempt(readAnswer(this.#endpoint, input, response, body));
  }

  onError(error: Error): void {
    if (this.#stage === 'sending' && !this.#isSent)
      this.#endWithFailure('unreachable', errorCodeOf(error) ?? undefined);
    else if (this.#stage === 'sending' || this.#stage === 'reading')
      this.#endWithFailure(
        this.#stage === 'reading' ? 'truncated' : error === tooManyInfos || isInvalidHttp(error) ? 'invalid' : 'reset',
      );
  }

  /** The time is over. */
  expire(): void {
    if (this.#stage === 'sending' || this.#stage === 'reading') this.#fail('timed-out');
    else this.#giveUp(this.#stage === 'pausing' ? (this.#outcome ?? shed) : shed);
  }

  /** The caller has left. A read that was sent is completed: it is paid for. */
  leave(): void {
    if (this.#isSent && this.method === 'GET' && this.#stage !== 'pausing') return;
    this.#giveUp({ kind: 'abandoned', reason: this.#batch.context.signal.reason });
  }

  #giveUp(outcome: Outcome<Answer>): void {
    if (this.#stage === 'ended') return;
    if (this.#stage === 'queued') this.#service.queue.remove(this);
    if (this.#stage !== 'pausing') this.#endAttempt(outcome);
    else this.#end(outcome);
  }

  /** Ends the attempt and closes its connection; one that is not sent yet is never sent. */
  #fail(reason: FailureReason): void {
    const close = this.#close;
    this.#reason = reason;
    // Undici calls `onError`.
    close?.(abandoned);
    if (this.#stage === 'sending' || this.#stage === 'reading') this.#endWithFailure(reason);
  }

  #endWithFailure(reason: FailureReason, code?: string): void {
    const { status = 0 } = this.#response ?? {};
    const mayBeCharged = status >= 200 && status < 300;
    const text = mayBeCharged ? (this.#response?.readPart() ?? '') : '';
    this.#endAttempt({ kind: 'failed', reason: this.#reason ?? reason, ...(code && { code }), text });
  }

  /** The one way in which an attempt ends: its place, its count and its circuit are settled, then it is retried, or the call ends. */
  #endAttempt(outcome: Outcome<Answer>): void {
    const { queue, events, circuitOf } = this.#service;
    const wasDispatched = this.#stage === 'sending' || this.#stage === 'reading';
    const isUnreachable = outcome.kind === 'failed' && outcome.reason === 'unreachable';
    const isSent = this.#isSent && !isUnreachable;
    const close = outcome.kind === 'abandoned' ? this.#close : null;
    const { signal } = this.#batch.context;
    const reservation = this.#reservation;
    const hadPlace = this.#hasPlace;
    const span = this.#span;
    if (this.#passed !== null) circuitOf(this.path).record(this.#passed, outcome);
    this.#passed = null;
    const ended = outcome.kind === 'answered' || outcome.kind === 'failed' ? outcome : null;
    if (wasDispatched) {
      span?.end(ended);
      events.callEnded(this, { outcome: ended, isSent, durationMs: performance.now() - this.#startedAt });
    }
    this.#reset();
    const isRefused = outcome.kind === 'answered' && refusalOf(outcome) !== null;
    if (outcome.kind === 'answered') reservation?.recordAnswer(outcome);
    if (!isSent || isRefused) reservation?.release();
    const mayRetry = this.#retries < maxRetries(this.method, outcome);
    const pauseMs = mayRetry && !signal.aborted ? this.#pauseBeforeRetry(outcome) : null;
    if (mayRetry && signal.aborted) this.#end({ kind: 'abandoned', reason: signal.reason });
    else if (pauseMs === null) {
      // The service has failed; that the caller cannot pay for another call says less.
      this.#end(outcome.kind === 'budget-exhausted' && this.#outcome !== null ? this.#outcome : outcome);
    } else {
      this.#stage = 'pausing';
      this.#outcome = outcome;
      this.#pause = setTimeout(this.#retry, pauseMs);
    }
    close?.(abandoned);
    if (!hadPlace) return;
    // Clients often leave together: a call that started at once could be for a client that is about to leave.
    if (signal.aborted && !this.#batch.hasExpired()) setImmediate(queue.leave);
    else queue.leave();
  }

  /** Null: there is none. */
  #pauseBeforeRetry(outcome: Outcome): number | null {
    const randomMs = Math.random() * this.#service.backoffMs * 2 ** this.#retries;
    const requestedMs = outcome.kind === 'answered' && outcome.retryAt ? outcome.retryAt.getTime() - Date.now() : 0;
    const pauseMs = Math.max(randomMs, requestedMs);
    return pauseMs < this.#batch.leftMs() && this.#service.takeRetry() ? pauseMs : null;
  }

  readonly #retry = () => {
    if (this.#stage !== 'pausing') return;
    if (this.#batch.hasExpired()) return this.#end(this.#outcome ?? shed);
    this.#retries += 1;
    this.#enter();
  };

  #reset(): void {
    this.#hasPlace = false;
    this.#reservation = null;
    this.#span = null;
    this.#isSent = false;
    this.#close = null;
    this.#reason = null;
    this.#infos = 0;
    this.#response = null;
  }

  #end(outcome: Outcome<Answer>): void {
    this.#stage = 'ended';
    this.#outcome = outcome;
    clearTimeout(this.#pause);
    this.#batch.remove(this);
    if (outcome.kind !== 'abandoned')
      this.#service.events.upstreamOperationEnded(this.service, this.#service.nameOutcome(outcome));
    this.#settle(outcome);
  }
}

const linesOrJson = 'application/x-ndjson, application/json';
/** Interim responses (1xx) of one call. */
const maxInfos = 20;
const tooManyInfos = new Error('too many interim responses');
const abandoned = new Error('The call was abandoned.');
