import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkResponse } from '../../bench/comparison/measure-server.ts';
import { listServers, serverNames } from '../../bench/comparison/servers.ts';
import { startServer } from '../../bench/comparison/start-server.ts';
import { type CountingUpstream, startCountingUpstream } from '../../bench/comparison/upstream.ts';
import { workloads } from '../../bench/comparison/workloads.ts';

describe('a server of the benchmark', () => {
  let upstream: CountingUpstream;
  beforeAll(async () => {
    upstream = await startCountingUpstream(0);
  });
  afterAll(() => upstream.close());

  it.each(serverNames)('answers each of its workloads, with one call for each new IBAN: %s', async (name) => {
    const server = listServers({ upstreamUrl: upstream.url, gatewayEnv: { LOG_LEVEL: 'warn' } })[name];
    if (server === undefined) throw new Error(`unknown server: ${name}`);
    const running = await startServer(server);
    try {
      await upstream.report();
      for (const [index, workload] of (server.workloads ?? Object.keys(workloads)).entries()) {
        const { newIbans = 0 } = workloads[workload] ?? {};
        await checkResponse(running.url, workload, 1_000 * index);
        const calls = await upstream.report();
        if (workload !== 'W3') expect([workload, calls]).toEqual([workload, newIbans]);
      }
    } finally {
      await running.close();
    }
  });
});
