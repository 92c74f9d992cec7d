import { hash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { readPurgedValue, type SharedEpochs } from '../bank-data/epochs.ts';
import { StoreError } from '../stores/store.ts';
import type { Events } from '../telemetry/events.ts';
import type { MetricSources } from '../telemetry/metrics/exposition.ts';
import type { Metrics } from '../telemetry/metrics/metrics.ts';
import { readBody } from './body.ts';
import { endAfterBody, type IncomingRequest } from './incoming-request.ts';
import { createHttpServer } from './server.ts';

export type MetricsServer = Awaited<ReturnType<typeof startMetricsServer>>;

interface MetricsServerOptions {
  metrics: Metrics;
  sources: MetricSources;
  host: string;
  port: number;
  /** Without one, nothing can be purged. */
  operatorKey: string | null;
  purge: SharedEpochs['purge'];
  events: Pick<Events, 'unexpectedError' | 'lookUpsPurged'>;
}

/** A server of its own for `/metrics` and `/purge`, so that the public port never serves them. The code that formats metrics is loaded only here. */
export async function startMetricsServer(options: MetricsServerOptions) {
  const { host, port, operatorKey, purge, events } = options;
  const { contentType, createExposition, formatMetrics } = await import('../telemetry/metrics/exposition.ts');
  const exposition = createExposition(options.metrics, options.sources);
  let scraping: Promise<string> | null = null;
  const server = createHttpServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      events.unexpectedError(error, { requestId: path });
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
    async close(): Promise<void> {
      await server.drain(0);
      exposition.close();
    },
  };

  async function answer(request: IncomingRequest, response: ServerResponse<IncomingRequest>): Promise<void> {
    const { method, url } = request;
    const requested = url?.replace(/\?.*/, '');
    if (requested === '/purge' && operatorKey !== null) return send(...(await answerPurge(response, operatorKey)));
    if (requested !== path) return send(404, 'The metrics are at /metrics.\n');
    if (method !== 'GET' && method !== 'HEAD') return send(405, 'Metrics are read with GET.\n');
    scraping ??= exposition
      .collect()
      .then(formatMetrics)
      .finally(() => {
        scraping = null;
      });
    send(200, await scraping, contentType);

    function send(status: number, text: string, type = 'text/plain; charset=utf-8'): void {
      response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) });
      response.write(text);
      endAfterBody(response);
    }
  }

  async function answerPurge(
    response: ServerResponse<IncomingRequest>,
    key: string,
  ): Promise<[status: number, text: string]> {
    const { req: request } = response;
    if (request.method !== 'POST') return [405, 'Look-ups are purged with POST.\n'];
    // The duration of a comparison of hashes tells nothing about the key.
    const [, given = ''] = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
    if (hash('sha256', given) !== hash('sha256', key)) return [401, 'authorization must be Bearer and OPERATOR_KEY.\n'];
    const body = await readBody({ request, response }, { maxBytes: maxBodyBytes, buffered: null });
    if (typeof body === 'string') return [413, `The body must have at most ${maxBodyBytes} bytes, in few chunks.\n`];
    const purged = readPurgedValue(body.toString());
    if (typeof purged === 'string') return [400, `${purged}.\n`];
    try {
      if (!(await purge(purged))) return [409, 'Too many purges are remembered: purge all look-ups instead.\n'];
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return [503, 'The store fails, so the other gateways may not know it: purge again when it works.\n'];
    }
    events.lookUpsPurged(purged.kind);
    return [200, 'Purged. All gateways know it within 500 ms.\n'];
  }
}

const maxBodyBytes = 1_000;

const path = '/metrics';

/** Few clients scrape. A connection that sends or reads nothing is closed, so that it does not keep them out. */
const limits = { maxConnections: 20, maxRequestsPerConnection: 5, clientTimeoutMs: 10_000 };
