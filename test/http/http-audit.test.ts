import { type Audit, serverAudits } from 'graphql-http';
import { describe, expect, it } from 'vitest';
import { tListeningGateway } from './listening-gateway.ts';

/* All server audits of the GraphQL-over-HTTP working group, over a real port. */

const audits = serverAudits({ url: () => Promise.reject(new Error('only their names are used')) });

describe('GraphQL over HTTP', () => {
  it('is audited by the complete suite', () => {
    expect(audits.length).toBeGreaterThanOrEqual(60);
    expect(new Set(audits.map(({ id }) => id)).size).toBe(audits.length);
  });

  it('passes every audit, MUST, SHOULD and MAY', async () => {
    const { url } = await tListeningGateway();
    const results = await Promise.all(serverAudits({ url, fetchFn: fetchWithPreflight }).map(runAudit));
    expect(results.filter((result) => !result.startsWith('ok '))).toEqual([]);
    expect(results).toHaveLength(audits.length);
  });
});

/** Without this header, the gateway executes no GET. */
function fetchWithPreflight(url: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set('apollo-require-preflight', 'true');
  return fetch(url, { ...init, headers });
}

async function runAudit({ id, name, fn }: Audit): Promise<string> {
  const result = await fn();
  return `${result.status} ${id} ${name}${result.status === 'ok' ? '' : `: ${result.reason}`}`;
}
