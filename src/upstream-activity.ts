/** How long a request has waited for upstreams, that is, while at least one of its look-ups or orders was in progress. */
export class UpstreamActivity {
  #inProgress = 0;
  #waitingSince = 0;
  #waitedMs = 0;

  begin(): void {
    if (this.#inProgress === 0) this.#waitingSince = performance.now();
    this.#inProgress += 1;
  }

  end(): void {
    this.#inProgress -= 1;
    if (this.#inProgress === 0) this.#waitedMs += performance.now() - this.#waitingSince;
  }

  /** Adds the time that a request waited before it began. @param since by `performance.now()` */
  addWait(since: number): void {
    this.#waitedMs += performance.now() - since;
  }

  /** @param now by `performance.now()` */
  waitedMs(now: number): number {
    return this.#waitedMs + (this.#inProgress === 0 ? 0 : now - this.#waitingSince);
  }
}
