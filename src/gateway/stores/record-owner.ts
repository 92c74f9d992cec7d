import { randomUUID } from 'node:crypto';
import type { Store } from './store.ts';

/**
 * This process, as the owner of records in a store. It is alive while a key of its own has not expired, which it writes again while it
 * owns records. Others that see the key expired may decide about these.
 */
export class RecordOwner {
  readonly id = randomUUID();
  readonly #store: Store;
  /** When the last sign was written, and when it expires at the earliest. By `performance.now()`. */
  #provenAt = Number.NEGATIVE_INFINITY;
  #aliveUntil = Number.NEGATIVE_INFINITY;
  /** How long the store took for it. */
  #writeMs = 0;
  #proving: Promise<void> | null = null;
  /** The last signs of others, and when they were first seen: a clock that is set back keeps a sign for longer. */
  readonly #signs = new Map<string, { sign: string; since: number }>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Shows that this process is alive, if that is due. @throws StoreError */
  async prove(): Promise<void> {
    if (performance.now() - this.#provenAt < proveEveryMs) return;
    this.#proving ??= this.#write().finally(() => {
      this.#proving = null;
    });
    await this.#proving;
  }

  /** Whether other processes know that this one is alive: it may have been suspended since its last sign. */
  isProven(): boolean {
    return performance.now() < this.#aliveUntil;
  }

  /** While the store is slow, the next sign comes later, and so does what is stored between a sign and its record: it lasts longer. */
  async #write(): Promise<void> {
    do {
      const beganAt = performance.now();
      const lastsMs = Math.max(aliveMs, Math.ceil(5 * this.#writeMs));
      await this.#store.set(toOwnerKey(this.id), `${Date.now() + lastsMs}/${lastsMs}`, { expiresInMs: lastsMs });
      this.#provenAt = beganAt;
      this.#aliveUntil = beganAt + lastsMs;
      this.#writeMs = performance.now() - beganAt;
    } while (this.#aliveUntil - performance.now() < 2 * this.#writeMs);
  }

  /** @throws StoreError */
  async isAlive(owner: string): Promise<boolean> {
    if (owner === this.id) return true;
    const sign = await this.#store.get(toOwnerKey(owner));
    if (sign === null) {
      this.#signs.delete(owner);
      return false;
    }
    const before = this.#signs.get(owner);
    if (sign === before?.sign) return performance.now() - before.since < lastsMsOf(sign);
    this.#signs.set(owner, { sign, since: performance.now() });
    return true;
  }
}

/** After this time without a sign of life, a process is dead, unless its store was slow. */
const aliveMs = 2_000;
/** Three signs may fail, or come late. */
const proveEveryMs = 400;

/** As the lease of a process was stored by 0.2.1, whose orders may still run beside this process. */
function toOwnerKey(owner: string): string {
  return `essay-process:${owner}`;
}

/** A sign of 0.2.1 does not say how long it lasts: 8 s. */
function lastsMsOf(sign: string): number {
  return Number(sign.split('/')[1] ?? 8_000);
}
