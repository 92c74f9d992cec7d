import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Events } from '../telemetry/events.ts';
import type { MetricSources } from '../telemetry/metrics/gateway-metrics.ts';
import type { Metrics } from '../telemetry/metrics/metrics.ts';
import { urlOf } from './server-url.ts';

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
  const server = createServer(
    { requestTimeout: timeoutMs, connectionsCheckingInterval: 1_000 },
    (request, response) => {
      answer(request, response).catch((error: unknown) => {
        events.unexpectedError(error, path);
        response.destroy();
      });
    },
  );
  server.maxConnections = 20;
  server.listen(port, host);
  await once(server, 'listening').catch((error) => {
    exposition.close();
    // The message names its variables.
    throw Object.assign(error, { isMetricsServer: true });
  });

  return {
    url: urlOf(server) + path,
    close: () =>
      new Promise((resolve) => {
        exposition.close();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  async function answer({ method, url }: IncomingMessage, response: ServerResponse): Promise<void> {
    if (url?.replace(/\?.*/, '') !== path) return send(404, 'The metrics are at /metrics.\n');
    if (method !== 'GET' && method !== 'HEAD') return send(405, 'Metrics are read with GET.\n');
    send(200, await exposition.scrape(), exposition.contentType);

    function send(status: number, text: string, type = 'text/plain; charset=utf-8'): void {
      response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) });
      response.end(text);
    }
  }
}

const path = '/metrics';
const timeoutMs = 10_000;
