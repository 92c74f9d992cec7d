import { request } from 'undici';

/** The header in which the self-hosted service reports the version of its bank lists. The hosted one has none. */
export const dataVersionHeader = 'x-bank-data-version';

/**
 * The version of the data that answers come from. When a service reports one, cached answers of another version are
 * not used, and the service is asked for its version regularly: answers from the cache would not show a change.
 */
export interface DataVersion {
  /** Null until a service reports one. */
  current(): string | null;
  /** Of each response of the service. */
  report(version: string): void;
  /** Adds a function that is called when the version changes, and again some seconds later. */
  onChanged(listener: () => void): void;
  close(): void;
}

/** @param url of the service */
export function createDataVersion(url: string): DataVersion {
  const listeners: (() => void)[] = [];
  let current: string | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isChanging = false;

  function report(version: string): void {
    timer ??= setInterval(() => void poll(), pollMs).unref();
    if (version === current) return;
    if (current !== null) {
      notify();
      isChanging = true;
    }
    current = version;
  }

  function notify(): void {
    for (const listener of listeners) listener();
  }

  async function poll(): Promise<void> {
    // Requests that were running at the change may have combined old answers with new ones.
    if (isChanging) notify();
    isChanging = false;
    try {
      const { headers, body } = await request(`${url}/data-version`, { signal: AbortSignal.timeout(pollMs) });
      await body.dump();
      const version = headers[dataVersionHeader];
      if (timer !== null && typeof version === 'string') report(version);
    } catch {
      // Look-ups report that the service is down.
    }
  }

  return {
    current: () => current,
    report,
    onChanged: (listener) => void listeners.push(listener),
    close() {
      if (timer !== null) clearInterval(timer);
      timer = null;
    },
  };
}

const pollMs = 5_000;
