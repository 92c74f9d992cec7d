import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Events } from '../telemetry/events.ts';
import type { Samples } from '../telemetry/metrics/exposition.ts';
import { createHttpServer } from './server.ts';

export type MetricsServer = Awaited<ReturnType<typeof startMetricsServer>>;

interface MetricsServerOptions {
  collect: () => Promise<Samples>;
  host: string;
  port: number;
  events: Pick<Events, 'unexpectedError'>;
}

/** A server of its own for `/metrics`, so that the public port never serves them. The code that formats them is loaded only here. */
export async function startMetricsServer(options: MetricsServerOptions) {
  const { collect, host, port, events } = options;
  const { contentType, formatMetrics } = await import('../telemetry/metrics/exposition.ts');
  let scraping: Promise<string> | null = null;
  const server = createHttpServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      events.unexpectedError(error, path);
      response.destroy();
    });
  }, limits);
  const url = await server.listen(host, port).catch((error: Error) => {
    // The message names its variables.
    throw Object.assign(error, { isMetricsServer: true });
  });

  return {
    url: url + path,
    close: () => server.drain(0),
  };

  async function answer({ method, url }: IncomingMessage, response: ServerResponse): Promise<void> {
    if (url?.replace(/\?.*/, '') !== path) return send(404, 'The metrics are at /metrics.\n');
    if (method !== 'GET' && method !== 'HEAD') return send(405, 'Metrics are read with GET.\n');
    scraping ??= collect()
      .then(formatMetrics)
      .finally(() => {
        scraping = null;
      });
    send(200, await scraping, contentType);

    function send(status: number, text: string, type = 'text/plain; charset=utf-8'): void {
      response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) });
      response.end(text);
    }
  }
}

const path = '/metrics';

/** Few clients scrape. A connection that sends or reads nothing is closed, so that it does not keep them out. */
const limits = { maxConnections: 20, maxRequestsPerConnection: 5, clientTimeoutMs: 10_000 };
