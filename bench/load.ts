import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

export interface GraphqlAnswer {
  status: number;
  data?: Record<string, unknown> | null;
  errors?: { message: string; path?: (string | number)[]; extensions?: { code?: string; service?: string | null } }[];
}

export interface GraphqlClient {
  send(query: string, variables?: object, signal?: AbortSignal): Promise<GraphqlAnswer>;
  close(): Promise<void>;
}

/** Sends requests over a pool of connections, one at a time per connection. */
export function createClient(url: string, connections: number): GraphqlClient {
  const { origin, pathname: path } = new URL(url);
  const pool = new Pool(origin, { connections, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  return {
    async send(query, variables = {}, signal) {
      const response = await pool.request({
        path,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query, variables }),
        signal: signal ?? null,
      });
      return { ...((await response.body.json()) as object), status: response.statusCode };
    },
    close: () => pool.destroy(),
  };
}

interface LoadOptions {
  clients: number;
  /** Requests of all clients together; 0 means unlimited. */
  perSecond: number;
  send: () => Promise<void>;
  isOver: () => boolean;
}

/**
 * Each client waits for its answer before its next request, so that a slow gateway receives fewer requests. Requests are
 * spaced evenly over all clients: with a schedule per client, all would send at the same time after the first stall.
 */
export async function runLoad({ clients, perSecond, send, isOver }: LoadOptions): Promise<void> {
  const spacingMs = perSecond > 0 ? 1_000 / perSecond : 0;
  let nextAt = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (!isOver()) {
        nextAt = Math.max(nextAt + spacingMs, performance.now());
        const waitMs = nextAt - performance.now();
        if (waitMs > 0) await sleep(waitMs);
        await send();
      }
    }),
  );
}
