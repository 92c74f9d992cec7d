import dns from 'node:dns';
import { isIP } from 'node:net';
import { expect, onTestFinished, vi } from 'vitest';
import type { ServiceName } from '../../../src/base/errors.ts';
import { type Answer, bankDataKey, essaysKey, tGateway } from '../gateway.ts';
import { type Reply, tUpstream, type UpstreamCall } from '../scripted-upstream.ts';
import {
  backoffMs,
  type Condition,
  essayText,
  isUnreachable,
  loggedErrors,
  maxAnswerBytes,
  replies,
  replyHealthy,
  start,
  upstreamText,
} from './operations.ts';

interface Request {
  query: string;
  variables: Record<string, unknown>;
  /** Upstream calls if none is retried. */
  firstCalls?: number;
}

const host = 'upstream.failures.test';

/** A gateway whose two services are one upstream, which is healthy until `fail`. Time advances when it is needed. */
export async function tScenario(clock: FakeClock) {
  const upstream = await tUpstream(replyHealthy);
  const names = tNames();
  const unhandled = tUnhandled();
  const url = upstream.url.replace('127.0.0.1', host);
  const gateway = tGateway({
    bankDataUrl: url,
    essaysUrl: url,
    upstreamLimits: { maxResponseBytes: maxAnswerBytes, backoffMs },
  });
  /** Calls to a slow upstream that has sent all it will send, while the gateway still waits. */
  const hanging = new Set<UpstreamCall>();
  /** Calls that succeeded or failed, including those that reached no server. */
  const callsEnded = () => gateway.log().split('"upstream called"').length - 1;

  /** Of so many calls in all, those that have not ended can end only at their deadline. */
  const isStuckAfter = (calls: number) => () => hanging.size > 0 && callsEnded() + hanging.size === calls;

  return {
    /** From now on, this condition applies to these calls, or to all if the upstream is unreachable. */
    async fail(condition: Condition, isAffected: (call: UpstreamCall) => boolean) {
      if (isUnreachable(condition)) {
        names.areKnown = condition === 'refused';
        return upstream.stop();
      }
      upstream.answers(async (response, call) => {
        const reply: Reply = (isAffected(call) && replies[condition]) || replyHealthy;
        await reply(response, call);
        if (!condition.startsWith('slow') || !isAffected(call)) return;
        hanging.add(call);
        await call.aborted;
        hanging.delete(call);
      });
    },
    async recover(condition: Condition) {
      names.areKnown = true;
      upstream.answers(replyHealthy);
      if (isUnreachable(condition)) await upstream.restart();
    },
    /** @returns the answer, the calls that ended before it, and the time that passed */
    async send({ query, variables, firstCalls = 1 }: Request) {
      const before = callsEnded();
      const isStuck = isStuckAfter(before + firstCalls);
      const { value, afterMs } = await clock.untilSettled<Answer>(gateway.ask(query, variables), isStuck);
      return { answer: value, afterMs, calls: callsEnded() - before };
    },
    /** Without advancing the clock. */
    sendAtOnce: ({ query, variables }: Request) => gateway.ask(query, variables),
    callsArrived: () => upstream.calls.length,
    callsEnded,
    /** Advances the clock until so many calls in all have ended. */
    untilCallsEnded: (calls: number) => clock.until(() => callsEnded() >= calls, isStuckAfter(calls)),
    /** The gateway has closed the connections of all slow calls. */
    untilHungUp: () => Promise.all([...hanging].map(({ aborted }) => aborted)),
    /** Neither shown nor logged. The raw text of a paid essay may contain anything but keys. */
    expectNothingLeaked(answer: unknown, ibans: string[]) {
      const log = gateway.log();
      const shown = JSON.stringify(answer);
      const withoutRawText = JSON.stringify(answer, (name, value) => (name === 'rawText' ? null : value));
      for (const secret of [bankDataKey, essaysKey, host, '127.0.0.1', ...ibans]) {
        expect(shown).not.toContain(secret);
        expect(log).not.toContain(secret);
      }
      expect(withoutRawText).not.toContain(upstreamText);
      expect(log).not.toContain(upstreamText);
      expect(log).not.toContain(essayText);
    },
    /** Exactly the expected lines at error level. */
    expectLoggedErrors(service: ServiceName, condition: Condition) {
      const lines = gateway.log().split('\n').filter(Boolean);
      const errors = lines.map((line) => JSON.parse(line)).filter(({ level }) => level >= 50);
      const message = loggedErrors[service][condition];
      const expected = message ? [expect.objectContaining({ service, msg: expect.stringMatching(message) })] : [];
      expect(errors).toEqual(expected);
    },
    async expectNothingUnhandled() {
      await turns(2);
      expect(unhandled).toEqual([]);
    },
  };
}

/** Resolves the name of the upstream while it is known, and no other name: no DNS query leaves the machine. */
function tNames() {
  const names = { areKnown: true };
  const { lookup } = dns;
  // Undici asks for all addresses.
  vi.spyOn(dns, 'lookup').mockImplementation(((
    name: string,
    ...rest: [...unknown[], (...found: unknown[]) => void]
  ) => {
    if (isIP(name)) return Reflect.apply(lookup, dns, [name, ...rest]);
    const done = rest.at(-1) as (...found: unknown[]) => void;
    if (name === host && names.areKnown) return done(null, [{ address: '127.0.0.1', family: 4 }]);
    done(Object.assign(new Error(`${name} is not known`), { code: 'ENOTFOUND' }));
  }) as unknown as typeof dns.lookup);
  return names;
}

function tUnhandled(): unknown[] {
  const unhandled: unknown[] = [];
  const listener = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', listener);
  onTestFinished(() => void process.off('unhandledRejection', listener));
  return unhandled;
}

/**
 * Timers are distinguished by their length: pauses before retries, and deadlines. Others are those of libraries, such as the
 * ticks of undici, 499 ms. One timer serves all deadlines, so it may run for what is left of the next one: 500 ms after the
 * pauses of an operation.
 */
const pauses = { fromMs: 10, toMs: 450 };
const deadlines = { fromMs: 500, toMs: Number.POSITIVE_INFINITY };

type FakeClock = ReturnType<typeof tFakeClock>;

/** Fake timers and clocks, which stand still until they are advanced. Random pauses have their maximum. */
export function tFakeClock() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'], now: start });
  vi.spyOn(Math, 'random').mockReturnValue(1);
  const pending = recordTimers();
  let isStopped = false;
  // `until` would wait for ever when time is real again.
  onTestFinished(() => {
    isStopped = true;
  });

  function earliest({ fromMs, toMs }: typeof pauses): number | undefined {
    const wanted = [...pending.values()].filter(({ delayMs }) => delayMs >= fromMs && delayMs <= toMs);
    return wanted.map(({ dueAt }) => dueAt).sort((a, b) => a - b)[0];
  }

  /**
   * Advances the clock only where nothing else can help: to the end of a pause before a retry and, while `isStuck`, to the
   * next deadline.
   */
  async function until(isDone: () => boolean, isStuck: () => boolean): Promise<void> {
    while (!isDone()) {
      await turns(1);
      if (isDone()) return;
      if (isStopped) throw new Error('the test ended before this was done');
      const now = performance.now();
      const next = earliest(pauses) ?? (isStuck() ? earliest(deadlines) : undefined) ?? now;
      vi.advanceTimersByTime(next - now);
    }
  }

  return {
    until,
    /** Likewise until this promise settles. @returns its value, and the time that passed */
    async untilSettled<Value>(promise: Promise<Value>, isStuck: () => boolean) {
      const startedAt = performance.now();
      let afterMs: number | undefined;
      const value = promise.finally(() => {
        afterMs = performance.now() - startedAt;
      });
      // It is awaited below; a rejection before that is not unhandled.
      value.catch(() => {});
      await until(() => afterMs !== undefined, isStuck);
      return { value: await value, afterMs: afterMs ?? Number.NaN };
    },
    advance: (ms: number) => void vi.advanceTimersByTime(ms),
    /** Changes the date without running any timer, as after a machine was suspended. */
    jump: (ms: number) => void vi.setSystemTime(Date.now() + ms),
  };
}

/** Turns of the event loop: pending I/O is processed, while the clock stands still. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Records the pending timers by wrapping the fake functions. */
function recordTimers() {
  const pending = new Map<unknown, { delayMs: number; dueAt: number }>();
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const recorded = (callback: (...args: unknown[]) => void, delayMs = 0, ...args: unknown[]) => {
    const timer = set(() => {
      pending.delete(timer);
      callback(...args);
    }, delayMs);
    pending.set(timer, { delayMs, dueAt: performance.now() + delayMs });
    return timer;
  };
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(recorded as typeof setTimeout);
  vi.spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => {
    pending.delete(timer);
    clear(timer);
  });
  return pending;
}
