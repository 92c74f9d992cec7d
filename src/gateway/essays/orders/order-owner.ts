import { randomUUID } from 'node:crypto';
import type { Store } from '../../stores/store.ts';

/**
 * A process that has sent orders. It is alive while a key of its own has not expired, which it writes again while it has such orders.
 * Another process that sees the key expired ends them as failed: a late end of a process that only slept still replaces that.
 */
export class OrderOwner {
  readonly id = randomUUID();
  readonly #store: Store;
  /** By `performance.now()`. */
  #provenAt = Number.NEGATIVE_INFINITY;
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

  async #write(): Promise<void> {
    const beganAt = performance.now();
    await this.#store.set(toOwnerKey(this.id), String(Date.now() + aliveMs), { expiresInMs: aliveMs });
    this.#provenAt = beganAt;
  }

  /** @throws StoreError */
  async isAlive(owner: string): Promise<boolean> {
    if (owner === this.id) return true;
    const sign = await this.#store.get(toOwnerKey(owner));
    const before = this.#signs.get(owner);
    const isOld = sign === before?.sign && performance.now() - before.since >= aliveMs;
    if (sign !== null && sign !== before?.sign) this.#signs.set(owner, { sign, since: performance.now() });
    if (sign === null) this.#signs.delete(owner);
    return sign !== null && !isOld;
  }
}

/** After this time without a sign of life, a process is dead. */
export const aliveMs = 2_000;
/** Three signs may fail, or come late. */
const proveEveryMs = 400;

/** As the lease of a process was stored by 0.2.1, whose orders may still run beside this process. */
function toOwnerKey(owner: string): string {
  return `essay-process:${owner}`;
}
