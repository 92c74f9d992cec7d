import { Agent, request } from 'node:http';
import { setInterval } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { tHttpServer } from '../free-port.ts';

export interface ProbingProxy {
  url: string;
  /** Probes this server from now on, and sends it requests while its /ready responds 200. Resolves when it is ready. */
  add(url: string): Promise<void>;
}

/**
 * A load balancer: sends requests in turns to the servers that are ready, over keep-alive connections. It repeats no
 * request: if one fails, its client receives 502. It notices late that a server stops, as load balancers do.
 */
export async function tProbingProxy(): Promise<ProbingProxy> {
  const agent = new Agent({ keepAlive: true });
  const ready: string[] = [];
  const closed = new AbortController();
  const { server, url } = await tHttpServer((incoming, outgoing) => {
    const next = ready.shift();
    if (next === undefined) return outgoing.writeHead(503).end();
    ready.push(next);
    const { method, headers } = incoming;
    const forwarded = request(`${next}${incoming.url}`, { agent, method, headers }, (response) => {
      const { connection, ...rest } = response.headers;
      outgoing.writeHead(response.statusCode ?? 502, rest);
      response.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.writeHead(502).end());
    incoming.pipe(forwarded);
  });
  // A client could otherwise send a request on an idle connection while it is being closed.
  server.keepAliveTimeout = 0;
  onTestFinished(() => {
    closed.abort();
    agent.destroy();
  });

  /** As probes of orchestrators do: each on a connection of its own. */
  async function isReady(server: string): Promise<boolean> {
    const { status } = await fetch(`${server}/ready`, { headers: { connection: 'close' } });
    return status === 200;
  }

  async function probe(server: string): Promise<void> {
    for await (const _ of setInterval(probeMs, null, { signal: closed.signal })) {
      if (!(await isReady(server).catch(() => false))) break;
    }
    ready.splice(ready.indexOf(server), 1);
  }

  return {
    url,
    async add(server) {
      while (!(await isReady(server)));
      ready.push(server);
      probe(server).catch(() => {});
    },
  };
}

const probeMs = 250;
