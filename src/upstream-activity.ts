/** The upstream operations that something waits for: a request, or a flight that several requests wait for. */
export interface UpstreamActivity {
  begin(): void;
  /** @param hasFailed whether there was no usable response */
  end(hasFailed: boolean): void;
}

/** How long a request has waited for upstreams, that is, while at least one operation was in progress for it. */
export class RequestActivity implements UpstreamActivity {
  /** Whether any operation has failed. */
  hasFailed = false;
  #inProgress = 0;
  #waitingSince = 0;
  #waitedMs = 0;

  begin(): void {
    if (this.#inProgress === 0) this.#waitingSince = performance.now();
    this.#inProgress += 1;
  }

  end(hasFailed: boolean): void {
    if (hasFailed) this.hasFailed = true;
    this.#inProgress -= 1;
    if (this.#inProgress === 0) this.#waitedMs += performance.now() - this.#waitingSince;
  }

  /** @param now by `performance.now()` */
  waitedMs(now: number): number {
    return this.#waitedMs + (this.#inProgress === 0 ? 0 : now - this.#waitingSince);
  }
}

/** Passes the operations of a flight on to all requests that wait for it. */
export class FlightActivity implements UpstreamActivity {
  readonly #waiting: UpstreamActivity[] = [];
  #inProgress = 0;

  /** The request waits from now on. */
  add(activity: UpstreamActivity): void {
    this.#waiting.push(activity);
    for (let count = 0; count < this.#inProgress; count += 1) activity.begin();
  }

  begin(): void {
    this.#inProgress += 1;
    for (const activity of this.#waiting) activity.begin();
  }

  end(hasFailed: boolean): void {
    this.#inProgress -= 1;
    for (const activity of this.#waiting) activity.end(hasFailed);
  }
}
