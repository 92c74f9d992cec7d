import { expect, it } from 'vitest';
import { type TProcess, tScript } from '../process.ts';
import { tIban } from './iban.ts';
import { tProbingProxy } from './probing-proxy.ts';

/** Both upstreams run inside each gateway, and must not stop before it. */
async function tReplica(): Promise<{ process: TProcess; url: string }> {
  const process = tScript('src/main.ts', { PORT: '0', SHUTDOWN_DELAY_MS: '1000' });
  const [, url = ''] = await process.printed(/GraphiQL +(\S+)\/graphql\n[\s\S]*SIGTERM .*\n/);
  return { process, url };
}

it('replaces two gateways behind a proxy, one after the other, and no request fails', async () => {
  const proxy = await tProbingProxy();
  const replicas = await Promise.all([tReplica(), tReplica()]);
  await Promise.all(replicas.map(({ url }) => proxy.add(url)));

  let isRolledOut = false;
  let sent = 0;
  const outcomes = new Set<string>();
  /** Each IBAN is new, so each query is a call to the gateway's own bank-data service. */
  const client = async () => {
    while (!isRolledOut) {
      const query = `{ ibanValidation(iban: "${tIban(sent++)}") { valid } }`;
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`${proxy.url}/graphql`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ query }),
      });
      outcomes.add(`${response.status} ${await response.text()}`);
    }
  };
  const load = Promise.all([client(), client(), client(), client()]);

  for (const { process } of replicas) {
    const next = await tReplica();
    await proxy.add(next.url);
    process.kill('SIGTERM');
    expect(await process.ended).toEqual({ code: 0, signal: null });
  }
  isRolledOut = true;
  await load;
  expect([...outcomes]).toEqual(['200 {"data":{"ibanValidation":{"valid":true}}}']);
  expect(sent).toBeGreaterThan(100);
});
