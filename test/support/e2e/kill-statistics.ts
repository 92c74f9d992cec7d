import type { WrittenEssay } from '../gateway-process.ts';
import type { EssayCall } from './recording-essay-service.ts';

/** The state after one kill, before any order is repeated. */
export interface KillOutcome {
  /** The keys of this round's orders, including those that were unfinished. */
  sent: readonly string[];
  answered: ReadonlyMap<string, WrittenEssay>;
  killedAt: number;
  stored: ReadonlyMap<string, WrittenEssay>;
  /** All calls that have arrived at the service so far. */
  calls: readonly EssayCall[];
  /** The calls that the next process reports as counted. */
  counted: number;
}

/** Sums up the state of the orders at each kill, as a text to read. */
export function createKillStatistics() {
  const sums = { kills: 0, sent: 0, answered: 0, stored: 0, unfinished: 0, notRequested: 0, repeated: 0 };
  /** Of essays that were returned before the kill and not stored: how long before, in milliseconds. */
  const lost: number[] = [];
  const ahead: number[] = [];
  let takeover = '';

  return {
    add({ sent, answered, killedAt, stored, calls, counted }: KillOutcome): void {
      const finished = calls.filter(({ finishedAt }) => finishedAt !== null && finishedAt <= killedAt);
      ahead.push(counted - finished.length);
      sums.kills += 1;
      sums.sent += sent.length;
      sums.answered += answered.size;
      // Two clients repeat each order.
      sums.repeated += 2 * stored.size;
      for (const key of sent) {
        const written = finished.find(({ topic }) => topic === key);
        if (stored.has(key)) sums.stored += 1;
        else if (written?.finishedAt) lost.push(killedAt - written.finishedAt);
        else if (calls.some(({ topic }) => topic === key)) sums.unfinished += 1;
        else sums.notRequested += 1;
      }
    },
    addTakeover(ms: number): void {
      takeover = `an unfinished order was taken over ${(ms / 1_000).toFixed(1)} s after the restart, in real time`;
    },
    toString: () =>
      [
        `${sums.kills} kills, ${sums.sent} orders sent`,
        `${sums.answered} were answered, ${sums.stored} were stored`,
        `${lost.length} were returned by the service and not stored, ${describe(lost)} before the kill`,
        `${sums.unfinished} were not finished by the service, ${sums.notRequested} not yet requested from it`,
        `${sums.repeated} later answers from the store, without a call`,
        `the count was ahead of the completed calls by ${Math.min(...ahead)} to ${Math.max(...ahead)}`,
        takeover,
      ].join('\n'),
  };
}

function describe(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const quantile = (part: number) => (sorted[Math.floor(part * (sorted.length - 1))] ?? 0).toFixed(1);
  return `${quantile(0.5)} ms in the median, at most ${quantile(1)} ms`;
}
