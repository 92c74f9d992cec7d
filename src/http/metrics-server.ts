import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Events } from '../telemetry/events.ts';
import type { MetricSources } from '../telemetry/metrics/gateway-metrics.ts';
import type { Metrics } from '../telemetry/metrics/metrics.ts';
import { createHttpServer } from './server.ts';

/** A server of its own for `/metrics`, so that the public port never serves them. */
export interface MetricsServer {
  url: string;
  close(): Promise<void>;
}

interface MetricsServerOptions {
  metrics: Metrics;
  sources: MetricSources;
  host: string;
  port: number;
  events: Pick<Events, 'unexpectedError'>;
}

/** The code that formats metrics is loaded only here. */
export async function startMetricsServer(options: MetricsServerOptions): Promise<MetricsServer> {
  const { metrics, sources, host, port, events } = options;
  const { createExposition } = await import('../telemetry/metrics/exposition.ts');
  const exposition = createExposition(metrics, sources);
  let scraping: Promise<string> | null = null;
  const server = createHttpServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      events.unexpectedError(error, path);
      response.destroy();
    });
  }, limits);
  const url = await server.listen(host, port).catch((error: Error) => {
    exposition.close();
    // The message names its variables.
    throw Object.assign(error, { isMetricsServer: true });
  });

  return {
    url: url + path,
    async close() {
      exposition.close();
      await server.drain(0);
    },
  };

  async function answer({ method, url }: IncomingMessage, response: ServerResponse): Promise<void> {
    if (url?.replace(/\?.*/, '') !== path) return send(404, 'The metrics are at /metrics.\n');
    if (method !== 'GET' && method !== 'HEAD') return send(405, 'Metrics are read with GET.\n');
    scraping ??= exposition.scrape().finally(() => {
      scraping = null;
    });
    send(200, await scraping, exposition.contentType);

    function send(status: number, text: string, type = 'text/plain; charset=utf-8'): void {
      response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) });
      response.end(text);
    }
  }
}

const path = '/metrics';

/** Few clients scrape. A connection that sends or reads nothing is closed, so that it does not keep them out. */
const limits = { maxConnections: 20, maxRequestsPerConnection: 5, clientTimeoutMs: 10_000 };
