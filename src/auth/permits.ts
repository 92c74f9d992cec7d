import { type RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';

/** The result of counting requests. */
export interface Taken {
  /** How many of them are permitted. */
  granted: number;
  /** How many more are permitted in the same window. */
  remaining: number;
  /** Time until the window ends. */
  endsInMs: number;
  /** How long the result counts. */
  validMs: number;
}

/** Counts requests. */
export type TakePermits = (count: number) => Promise<Taken>;

interface PermitsOptions {
  /** Requests per window. */
  limit: number;
  /** How many gateways count together. */
  replicas: number;
  take: TakePermits;
}

/**
 * The requests of one caller that were counted ahead of time. A block is a twentieth of what remains, over all gateways,
 * so that idle gateways hold less than a tenth; near the limit it is one request. The next block is taken when half of one
 * is used.
 */
export class Permits {
  readonly limit: number;
  readonly #replicas: number;
  readonly #take: TakePermits;
  #left = 0;
  #block = 1;
  #remaining = 0;
  #endsAt = 0;
  #validUntil = 0;
  #waiting = 0;
  #taking: Promise<void> | null = null;

  constructor({ limit, replicas, take }: PermitsOptions) {
    this.limit = limit;
    this.#replicas = replicas;
    this.#take = take;
  }

  /** Null if a request is permitted; otherwise the seconds until the next one is. */
  use(): Promise<number | null> | number | null {
    const now = performance.now();
    if (now >= this.#validUntil) {
      this.#left = 0;
      this.#remaining = 0;
    } else if (this.#left > 0) {
      this.#left -= 1;
      if (2 * this.#left < this.#block && this.#remaining >= this.#block && this.#block > 1) this.#startTaking();
      return null;
    } else if (this.#remaining === 0 && this.#taking === null) {
      return this.#secondsLeft(now);
    }
    return this.#wait();
  }

  async #wait(): Promise<number | null> {
    this.#waiting += 1;
    do await this.#startTaking();
    while (this.#left === 0 && this.#remaining > 0);
    this.#waiting -= 1;
    if (this.#left === 0) return this.#secondsLeft(performance.now());
    this.#left -= 1;
    return null;
  }

  #startTaking(): Promise<void> {
    this.#taking ??= this.#takeBlock().finally(() => {
      this.#taking = null;
    });
    return this.#taking;
  }

  async #takeBlock(): Promise<void> {
    this.#block = Math.max(1, Math.floor(this.#remaining / (20 * this.#replicas)));
    const count = Math.min(this.limit, Math.max(this.#block, this.#waiting));
    // Measured before Redis responds, so that the window does not end later here than in Redis.
    const startedAt = performance.now();
    const { granted, remaining, endsInMs, validMs } = await this.#take(count);
    const isSameWindow = startedAt < this.#validUntil && Math.abs(startedAt + endsInMs - this.#endsAt) < sameWindowMs;
    this.#left = granted + (isSameWindow ? this.#left : 0);
    this.#remaining = remaining;
    this.#endsAt = startedAt + endsInMs;
    this.#validUntil = startedAt + validMs;
  }

  #secondsLeft(now: number): number {
    return Math.max(1, Math.ceil((this.#endsAt - now) / 1_000));
  }
}

/** Takes requests of a limiter, as many as are left if these are fewer. @throws if it fails */
export async function takeFrom(limiter: RateLimiterAbstract, key: string, count: number): Promise<Taken> {
  const result = await limiter.consume(key, count).catch((rejection: unknown) => {
    if (rejection instanceof RateLimiterRes) return rejection;
    throw rejection;
  });
  const { consumedPoints, remainingPoints: remaining, msBeforeNext } = result;
  const granted = Math.max(0, Math.min(count, limiter.points - (consumedPoints - count)));
  return { granted, remaining, endsInMs: msBeforeNext, validMs: msBeforeNext };
}

/** More than the time of a call to Redis can vary. */
const sameWindowMs = 2_000;
