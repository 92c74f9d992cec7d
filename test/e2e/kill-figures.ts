import type { EssayCall } from './counting-essay-service.ts';
import type { WrittenEssay } from './running-gateway.ts';

/** What is known of one kill before anything is ordered again. */
export interface Aftermath {
  /** The keys of this round's orders, those that the process was killed at included. */
  sent: readonly string[];
  answered: ReadonlyMap<string, WrittenEssay>;
  killedAt: number;
  stored: ReadonlyMap<string, WrittenEssay>;
  /** All that arrived at the service up to then. */
  calls: readonly EssayCall[];
  /** How many calls the next process said were counted. */
  counted: number;
}

/** Adds up, for people to read, what became of the orders that a process was killed at. */
export function createKillFigures() {
  const sums = { kills: 0, sent: 0, answered: 0, stored: 0, unfinished: 0, notAsked: 0, again: 0 };
  /** Of essays that were sent before the kill and did not get into the store: how long before, in milliseconds. */
  const lost: number[] = [];
  const ahead: number[] = [];
  let takeover = '';

  return {
    add({ sent, answered, killedAt, stored, calls, counted }: Aftermath): void {
      const finished = calls.filter(({ finishedAt }) => finishedAt !== null && finishedAt <= killedAt);
      ahead.push(counted - finished.length);
      sums.kills += 1;
      sums.sent += sent.length;
      sums.answered += answered.size;
      // Each of them was ordered by two.
      sums.again += 2 * stored.size;
      for (const key of sent) {
        const written = finished.find(({ topic }) => topic === key);
        if (stored.has(key)) sums.stored += 1;
        else if (written?.finishedAt) lost.push(killedAt - written.finishedAt);
        else if (calls.some(({ topic }) => topic === key)) sums.unfinished += 1;
        else sums.notAsked += 1;
      }
    },
    addTakeover(ms: number): void {
      takeover = `an order under way was taken over ${(ms / 1_000).toFixed(1)} s after the restart, on a real clock`;
    },
    toString: () =>
      [
        `${sums.kills} kills, ${sums.sent} orders sent`,
        `${sums.answered} had answered their client, ${sums.stored} were stored`,
        `${lost.length} were sent by the service and not stored, ${describe(lost)} before the kill`,
        `${sums.unfinished} were not finished by the service, ${sums.notAsked} not yet asked for`,
        `${sums.again} answers from the store afterwards, and no call for any of them`,
        `counted calls ahead of completed ones by ${Math.min(...ahead)} to ${Math.max(...ahead)}`,
        takeover,
      ].join('\n'),
  };
}

function describe(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const share = (part: number) => (sorted[Math.floor(part * (sorted.length - 1))] ?? 0).toFixed(1);
  return `${share(0.5)} ms in the middle, at most ${share(1)} ms`;
}
