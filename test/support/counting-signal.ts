import { AbortableSignal } from '../../src/base/async/signal.ts';

/** Counts its listeners. */
export class CountingSignal extends AbortableSignal {
  readonly #listeners = new Set<() => void>();

  /** Those that were not removed before the signal aborted. */
  get listeners(): number {
    return this.aborted ? 0 : this.#listeners.size;
  }

  override addEventListener(type: 'abort', listener: () => void): void {
    this.#listeners.add(listener);
    super.addEventListener(type, listener);
  }

  override removeEventListener(type: 'abort', listener: () => void): void {
    this.#listeners.delete(listener);
    super.removeEventListener(type, listener);
  }
}
