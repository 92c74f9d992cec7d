import { type Audit, serverAudits } from 'graphql-http';
import { describe, expect, it } from 'vitest';
import { tListeningGateway } from './listening-gateway.ts';

/* The suite by which the GraphQL-over-HTTP working group judges servers, against a real port. None is left out. */

const audits = serverAudits({ url: () => Promise.reject(new Error('only their names are needed')) });

describe('GraphQL over HTTP', () => {
  it('is judged by the whole suite', () => {
    expect(audits.length).toBeGreaterThanOrEqual(60);
    expect(new Set(audits.map(({ id }) => id)).size).toBe(audits.length);
  });

  it('passes every audit, MUST, SHOULD and MAY', async () => {
    const { url } = await tListeningGateway();
    const results = await Promise.all(serverAudits({ url }).map(judge));
    expect(results.filter((result) => !result.startsWith('ok '))).toEqual([]);
    expect(results).toHaveLength(audits.length);
  });
});

async function judge({ id, name, fn }: Audit): Promise<string> {
  const result = await fn();
  return `${result.status} ${id} ${name}${result.status === 'ok' ? '' : `: ${result.reason}`}`;
}
