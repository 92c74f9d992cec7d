import { Client } from 'undici';

/** The header in which the self-hosted service reports the version of its bank lists. */
const dataVersionHeader = 'x-bank-data-version';

/**
 * The version of the data that answers come from. When a service reports one, cached answers of another version are
 * not used, and the service is asked for its version regularly: answers from the cache would not show a change.
 */
export interface DataVersion {
  /** Null until a service reports one. */
  current(): string | null;
  /** Called with the version in each response of the service. */
  report(version: string): void;
  /** Adds a function that is called when the version changes, and again some seconds later. */
  onChanged(listener: () => void): void;
  close(): void;
}

/** Answers of a service that is not our own are paid for, so it must not be able to remove them from the cache. */
export const noDataVersion: DataVersion = { current: () => null, report() {}, onChanged() {}, close() {} };

/** @param url of the service */
export function createDataVersion(url: string): DataVersion {
  const { origin, pathname } = new URL(`${url}/data-version`);
  const client = new Client(origin);
  const listeners: (() => void)[] = [];
  let current: string | null = null;
  let timer: NodeJS.Timeout | null = null;
  /** Changes of the version in this interval, and in the interval before. */
  let changes = 0;
  let earlierChanges = 0;

  function report(version: string): void {
    if (version.length > maxLength) return;
    timer ??= setInterval(() => void poll(), pollMs).unref();
    if (version === current) return;
    if (current !== null) {
      changes += 1;
      // Replicas of the service may have different versions: then each answer would clear the cache.
      if (changes <= maxImmediate) notify();
    }
    current = version;
  }

  function notify(): void {
    for (const listener of listeners) listener();
  }

  async function poll(): Promise<void> {
    // Requests that were running at a change may have combined old answers with new ones.
    if (changes + earlierChanges > 0) notify();
    earlierChanges = changes;
    changes = 0;
    try {
      const signal = AbortSignal.timeout(pollMs);
      const { statusCode, headers, body } = await client.request({ path: pathname, method: 'GET', signal });
      await body.dump({ limit: maxBodyBytes });
      const version = headers[dataVersionHeader];
      if (timer !== null && statusCode < 300 && typeof version === 'string') report(version);
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
      void client.destroy();
    },
  };
}

const pollMs = 5_000;
/** Changes of one interval that listeners are called for at once. */
const maxImmediate = 2;
/** It is stored with each answer. */
const maxLength = 200;
const maxBodyBytes = 1_000;
