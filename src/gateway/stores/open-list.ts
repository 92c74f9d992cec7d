import type { Store } from './store.ts';

interface OpenListOptions<Work> {
  store: Pick<Store, 'add' | 'get' | 'set' | 'delete'>;
  /** Key of the counter of its entries. */
  key: string;
  /** Null remains null. @throws StoreError if it is damaged */
  parse: (text: string | null) => Work | null;
}

/**
 * The list of what is still to be done, for all processes that share a store: each looks at it every few seconds. The number of an entry is
 * drawn from the counter of the list, and the entry is written with what it is for. A process that sees that it is done removes it.
 */
export class OpenList<Work> {
  readonly key: string;
  readonly #store: OpenListOptions<Work>['store'];
  readonly #parse: OpenListOptions<Work>['parse'];
  /** Entries by their numbers, with when they were first looked for. */
  readonly #entries = new Map<number, { work: Work | null; since: number }>();
  /** Those that are done, behind one that is not. */
  readonly #done = new Set<number>();

  constructor({ store, key, parse }: OpenListOptions<Work>) {
    this.#store = store;
    this.key = key;
    this.#parse = parse;
  }

  toEntryKey(number: number): string {
    return `${this.key}:${number}`;
  }

  /**
   * Looks at all entries.
   * @param isOpen `isNew`: what the entry is for may be stored after it, as in a Redis Cluster
   * @param skipUnreadable for an entry that cannot be read, which is left out @throws StoreError
   */
  async sweep(
    isOpen: (work: Work, isNew: boolean) => Promise<boolean>,
    skipUnreadable: (error: unknown) => null,
  ): Promise<void> {
    const last = (await this.#store.add(this.key, 0, counterExpiry)).sum;
    const fromKey = `${this.key}-from`;
    const begin = Number((await this.#store.get(fromKey).catch(skipUnreadable)) ?? 1);
    // The store may have lost the list, which then begins again.
    let from = Math.min(begin, last + 1);
    for (let first = from; first <= last; first += chunkSize) {
      const length = Math.min(chunkSize, last - first + 1);
      const numbers = Array.from({ length }, (_, index) => first + index).filter((number) => !this.#done.has(number));
      await Promise.all(
        numbers.map(async (number) => {
          if (await this.#isDone(number, isOpen, skipUnreadable)) this.#done.add(number);
        }),
      );
    }
    while (this.#done.delete(from)) from += 1;
    for (const number of this.#done) if (number < from) this.#done.delete(number);
    if (from !== begin) await this.#store.set(fromKey, String(from), counterExpiry);
  }

  async #isDone(number: number, ...[isOpen, skipUnreadable]: Parameters<OpenList<Work>['sweep']>): Promise<boolean> {
    const entry = this.#entries.get(number) ?? { work: null, since: performance.now() };
    this.#entries.set(number, entry);
    const key = this.toEntryKey(number);
    entry.work ??= await this.#store.get(key).then(this.#parse).catch(skipUnreadable);
    // A number is drawn before its entry is written.
    const isNew = performance.now() - entry.since < graceMs;
    if (entry.work === null ? isNew : await isOpen(entry.work, isNew).catch(skipUnreadable)) return false;
    if (entry.work !== null) await this.#store.delete(key);
    this.#entries.delete(number);
    return true;
  }
}

/** A century: numbers are never used again. */
export const counterExpiry = { expiresInMs: 100 * 365 * 86_400_000 };
/** Longer than a store takes to answer. */
const graceMs = 30_000;
/** Entries that are read at a time. */
const chunkSize = 100;
