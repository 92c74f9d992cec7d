import type { Store } from '../../stores/store.ts';
import type { RestAnswer } from '../upstream-client.ts';
import { ceilingOf, readToldLimit, remainingOf, type ToldLimit } from './reported-limit.ts';
import { createStoredCount } from './stored-count.ts';

/** A call that is counted and may be sent. */
export interface Taken {
  kind: 'taken';
  /** The call surely never reached the upstream. Once; more often changes nothing. */
  giveBack(): void;
  /** The headers that the call was answered with: they may tell what is left. */
  learn(headers: RestAnswer['headers']): void;
}

export interface MonthOfCalls {
  /** Null where no call is left. */
  take(): Promise<Taken | null>;
  status(): Promise<{ used: number; limit: number | null; remaining: number | null }>;
  /** Once the store has everything, as far as it works. */
  settled(): Promise<void>;
}

interface MonthOfCallsOptions {
  store: Store;
  key: string;
  limit: number | null;
  now: () => number;
  /** Called once each when 80 and 95 percent are used. */
  onNearlyUsedUp: (percent: number) => void;
  onFailed: (reason: string) => void;
  onWorks: () => void;
}

/** The calls to one upstream in one calendar month. */
export function createMonthOfCalls({
  store,
  key,
  limit,
  now,
  onNearlyUsedUp,
  onFailed,
  onWorks,
}: MonthOfCallsOptions): MonthOfCalls {
  const count = createStoredCount({ store, key, keptMs: KEPT_MS, onFailed, onWorks: renumber });
  /** By how much numbers given before have moved on. */
  let shift = 0;
  let told: ToldLimit | null = null;
  let saved: ToldLimit | null = null;
  const warnings = [...warnedAtPercent];
  let opening: Promise<void> | null = null;

  return {
    async take() {
      await open();
      // Others may have given back since, so what seems used up is looked at once more; that writes nothing.
      if (count.known() >= ceiling() && (await count.read()) >= ceiling()) return null;
      const number = await count.add();
      if (number > ceiling()) {
        count.takeBack();
        return null;
      }
      warn();
      return createTaken(number);
    },
    async status() {
      await open();
      const counted = await count.read();
      await readTold();
      const own = limit === null ? null : Math.max(0, limit - counted);
      const left = told && remainingOf(told, counted);
      if (told && left !== null && (own === null || left < own)) {
        return { used: Math.max(counted, told.limit - left), limit: told.limit, remaining: left };
      }
      return { used: counted, limit, remaining: own };
    },
    async settled() {
      if (opening === null) return;
      await opening;
      await Promise.all([count.read(), told === saved || saveTold()]);
    },
  };

  /** Not before it is needed: a gateway that calls nobody makes no store. */
  function open(): Promise<void> {
    // The count first: what others left in the store goes by its numbers.
    opening ??= count.read().then(readTold);
    return opening;
  }

  /** The highest number that a call may have: of what is configured and what was told, the smaller. */
  function ceiling(): number {
    return Math.min(limit ?? Number.POSITIVE_INFINITY, told ? ceilingOf(told, now()) : Number.POSITIVE_INFINITY);
  }

  /** Counts that were apart are one again. The upstream knew of all those calls, so what it said is left stays as it is. */
  function renumber(jump: number): void {
    shift += jump;
    if (told) told = { ...told, number: told.number + jump };
    onWorks();
  }

  function createTaken(number: number): Taken {
    const unshifted = number - shift;
    let isHeld = true;
    return {
      kind: 'taken',
      giveBack() {
        if (isHeld) count.takeBack();
        isHeld = false;
      },
      learn(headers) {
        const news = readToldLimit(headers, { number: unshifted + shift, toldAt: now() });
        // Answers overtake each other; that to the latest call knows most.
        if (!news || (told && news.number < told.number)) return;
        told = news;
        warn();
        if (isWorthSaving(news, saved)) void saveTold();
      },
    };
  }

  function warn(): void {
    const shares = [limit ? count.known() / limit : 0, told ? 1 - remainingOf(told, count.known()) / told.limit : 0];
    while (warnings[0] !== undefined && Math.max(...shares) * 100 >= warnings[0]) {
      onNearlyUsedUp(warnings[0]);
      warnings.shift();
    }
  }

  async function readTold(): Promise<void> {
    // Without the store, what this process was told itself counts.
    const text = await store.get(key).catch(() => null);
    const kept: ToldLimit | null = text === null ? null : JSON.parse(text);
    if (!kept || (told && kept.number <= told.number)) return;
    told = kept;
    saved = kept;
  }

  async function saveTold(): Promise<void> {
    saved = told;
    await store.set(key, JSON.stringify(told), { expiresInMs: KEPT_MS }).catch(() => {});
  }
}

/** Longer than two months, so that what was spent can be looked up. */
const KEPT_MS = 93 * 86_400_000;
const warnedAtPercent = [80, 95];
const savedEveryMs = 60_000;

/** Calls since are in the count; so it is enough to save once in a while, and at once when nothing is left. */
function isWorthSaving(news: ToldLimit, saved: ToldLimit | null): boolean {
  if (!saved || news.limit !== saved.limit || news.toldAt - saved.toldAt >= savedEveryMs) return true;
  return news.remaining === 0 && saved.remaining > 0;
}
