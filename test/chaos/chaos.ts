import dns from 'node:dns';
import { isIP } from 'node:net';
import { expect, onTestFinished, vi } from 'vitest';
import { type Answer, bankDataKey, essaysKey, tGateway } from '../gateway.ts';
import { type Reply, tUpstream, type UpstreamCall } from '../scripted-upstream.ts';
import {
  type Condition,
  essayText,
  isUnreachable,
  maxAnswerBytes,
  replies,
  replyHealthy,
  upstreamWords,
} from './conditions.ts';
import { backoffMs, bankDataTimeoutMs, essaysTimeoutMs } from './expectations.ts';
import { type FakeClock, turns } from './fake-clock.ts';

interface Question {
  query: string;
  variables: Record<string, unknown>;
  /** How many things it asks the service for. */
  asks?: number;
}

const host = 'upstream.chaos.test';

/** A gateway in front of one upstream that is both services, healthy until it is struck; time passes as it is needed. */
export async function tChaos(clock: FakeClock) {
  const upstream = await tUpstream(replyHealthy);
  const names = tNames();
  const unhandled = tUnhandled();
  const url = upstream.url.replace('127.0.0.1', host);
  const gateway = tGateway({
    bankDataUrl: url,
    essaysUrl: url,
    env: {
      MAX_ANSWER_BYTES: String(maxAnswerBytes),
      UPSTREAM_RETRY_BACKOFF_MS: String(backoffMs),
      BANK_DATA_TIMEOUT_MS: String(bankDataTimeoutMs),
      ESSAY_TIMEOUT_MS: String(essaysTimeoutMs),
    },
  });
  /** Calls at which a slow upstream has said all that it ever will, and is still waited for. */
  const hanging = new Set<UpstreamCall>();
  /** Calls that came to an end, whatever it was, as the gateway sees it: also those that nobody was there to take. */
  const callsEnded = () => gateway.log().split('"upstream called"').length - 1;

  /** Whether no call can end but by its deadline, and none is on its way, as so many in all were sent. */
  const stuckAfter = (callsSent: number) => () => hanging.size > 0 && callsEnded() + hanging.size === callsSent;

  return {
    /** From now on, the upstream does this at such calls; or to all, where it cannot be reached. */
    async strike(condition: Condition, isStruck: (call: UpstreamCall) => boolean) {
      if (isUnreachable(condition)) {
        names.areKnown = condition === 'refused';
        return upstream.goesDown();
      }
      upstream.answers(async (response, call) => {
        const reply: Reply = isStruck(call) ? replies[condition] : replyHealthy;
        await reply(response, call);
        if (!condition.startsWith('slow') || !isStruck(call)) return;
        hanging.add(call);
        await call.aborted;
        hanging.delete(call);
      });
    },
    async heal(condition: Condition) {
      names.areKnown = true;
      upstream.answers(replyHealthy);
      if (isUnreachable(condition)) await upstream.comesUp();
    },
    /** Tells the answer, the calls that ended until then, and the time that it took. */
    async ask({ query, variables, asks = 1 }: Question): Promise<{ answer: Answer; calls: number; afterMs: number }> {
      const before = callsEnded();
      const isStuck = stuckAfter(before + asks);
      const settled = await clock.untilSettled(gateway.ask(query, variables), isStuck);
      return { ...settled, calls: callsEnded() - before };
    },
    /** Lets no time pass. */
    askAtOnce: ({ query, variables }: Question) => gateway.ask(query, variables),
    callsArrived: () => upstream.calls.length,
    callsEnded,
    /** Lets as much time pass as it takes until so many calls in all have ended. */
    untilCallsEnded: (calls: number) => clock.until(() => callsEnded() >= calls, stuckAfter(calls)),
    /** No slow answer is waited for any longer. */
    untilHungUp: () => Promise.all([...hanging].map(({ aborted }) => aborted)),
    /** Neither shown nor logged. But text that was paid for is its buyer's, whatever stands in it except keys. */
    expectNothingLeaked(answer: unknown, ibans: string[]) {
      const log = gateway.log();
      const shown = JSON.stringify(answer);
      const unpaid = JSON.stringify(answer, (name, value) => (name === 'rawText' ? null : value));
      for (const secret of [bankDataKey, essaysKey, host, '127.0.0.1', ...ibans]) {
        expect(shown).not.toContain(secret);
        expect(log).not.toContain(secret);
      }
      expect(unpaid).not.toContain(upstreamWords);
      expect(log).not.toContain(upstreamWords);
      expect(log).not.toContain(essayText);
    },
    async expectNothingUnhandled() {
      await turns(2);
      expect(unhandled).toEqual([]);
    },
  };
}

/** Knows the name of the upstream for as long as it is told to, and no other: no question leaves the machine. */
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
