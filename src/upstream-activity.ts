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

/** Passes the operations of a flight on to all requests that wait for it, which is mostly one. */
export class FlightActivity implements UpstreamActivity {
  #first: UpstreamActivity | null = null;
  #others: UpstreamActivity[] | null = null;
  #inProgress = 0;

  /** The request waits from now on. */
  add(activity: UpstreamActivity): void {
    if (this.#first === null) this.#first = activity;
    else if (this.#others === null) this.#others = [activity];
    else this.#others.push(activity);
    for (let count = 0; count < this.#inProgress; count += 1) activity.begin();
  }

  begin(): void {
    this.#inProgress += 1;
    this.#first?.begin();
    if (this.#others !== null) for (const activity of this.#others) activity.begin();
  }

  end(hasFailed: boolean): void {
    this.#inProgress -= 1;
    this.#first?.end(hasFailed);
    if (this.#others !== null) for (const activity of this.#others) activity.end(hasFailed);
  }
}
