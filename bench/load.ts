import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

export interface GraphqlAnswer {
  status: number;
  data?: Record<string, unknown> | null;
  errors?: { message: string; path?: (string | number)[]; extensions?: { code?: string; service?: string | null } }[];
}

export interface GraphqlClient {
  ask(query: string, variables?: object, signal?: AbortSignal): Promise<GraphqlAnswer>;
  close(): Promise<void>;
}

/** Asks over so many kept connections, one question at a time on each. */
export function createClient(url: string, connections: number): GraphqlClient {
  const { origin, pathname: path } = new URL(url);
  const pool = new Pool(origin, { connections, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  return {
    async ask(query, variables = {}, signal) {
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
  callers: number;
  /** Questions of all callers together; 0: each asks again as soon as it was answered. */
  perSecond: number;
  ask: () => Promise<void>;
  isOver: () => boolean;
}

/**
 * Callers who wait for their answer before they ask again: a slow gateway is asked less, never more. Questions are
 * spaced evenly whoever asks them; callers who kept to a beat of their own would fall into step after the first stall,
 * and from then on all ask at once.
 */
export async function keepAsking({ callers, perSecond, ask, isOver }: LoadOptions): Promise<void> {
  const spacingMs = perSecond > 0 ? 1_000 / perSecond : 0;
  let nextAt = performance.now();
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (!isOver()) {
        nextAt = Math.max(nextAt + spacingMs, performance.now());
        const waitMs = nextAt - performance.now();
        if (waitMs > 0) await sleep(waitMs);
        await ask();
      }
    }),
  );
}
