import { type Audit, serverAudits } from 'graphql-http';
import { describe, expect, it } from 'vitest';
import { as, keyOf, sha256 } from '../../support/gateway/callers.ts';
import { tListeningGateway } from '../../support/gateway/http/listening-gateway.ts';

/* All server audits of the GraphQL-over-HTTP working group, over a real port. */

/** The audits read the schema. */
const callers = { GATEWAY_API_KEYS: `shop:${sha256(keyOf('shop'))}:introspection+traces` };
const audits = serverAudits({ url: () => Promise.reject(new Error('only their names are used')) });

describe('GraphQL over HTTP', () => {
  it('is audited by the complete suite', () => {
    expect(audits.length).toBeGreaterThanOrEqual(60);
    expect(new Set(audits.map(({ id }) => id)).size).toBe(audits.length);
  });

  it.for([
    ['without callers', {}, {}],
    ['with a key', callers, as('shop')],
    ['with a key, and traces', callers, { ...as('shop'), 'apollo-federation-include-trace': 'ftv1' }],
  ] as const)('passes every audit, MUST, SHOULD and MAY, %s', async ([title, env, headers], { task }) => {
    const { url } = await tListeningGateway(env);
    const results = await Promise.all(serverAudits({ url, fetchFn: createFetch(headers) }).map(runAudit));
    const refused = results.filter((result) => !result.startsWith('ok '));
    const counts = { passed: results.length - refused.length, total: results.length };
    task.meta.judgement = { judge: `GraphQL over HTTP audits of graphql-http, ${title}`, ...counts };
    expect(refused).toEqual([]);
    expect(results).toHaveLength(audits.length);
  });
});

/** Without this header, the gateway executes no GET. */
const preflight = { 'graphql-require-preflight': 'true' };

function createFetch(headers: Record<string, string>) {
  return (url: string, init: RequestInit = {}) =>
    fetch(url, { ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), ...preflight, ...headers } });
}

async function runAudit({ id, name, fn }: Audit): Promise<string> {
  const result = await fn();
  return `${result.status} ${id} ${name}${result.status === 'ok' ? '' : `: ${result.reason}`}`;
}
