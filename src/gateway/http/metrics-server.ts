import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readPurgedValue, type SharedPurges } from '../bank-data/purges.ts';
import { StoreError } from '../stores/store.ts';
import type { Events } from '../telemetry/events.ts';
import type { Samples } from '../telemetry/metrics/exposition.ts';
import { createHttpServer } from './server.ts';

export type MetricsServer = Awaited<ReturnType<typeof startMetricsServer>>;

interface MetricsServerOptions {
  collect: () => Promise<Samples>;
  host: string;
  port: number;
  /** Without one, nothing can be purged. */
  operatorKey: string | null;
  purge: SharedPurges['purge'];
  events: Pick<Events, 'unexpectedError' | 'lookUpsPurged'>;
}

/** A server of its own for `/metrics` and `/purge`, so that the public port never serves them. The code that formats metrics is loaded only here. */
export async function startMetricsServer(options: MetricsServerOptions) {
  const { collect, host, port, operatorKey, purge, events } = options;
  const { contentType, formatMetrics } = await import('../telemetry/metrics/exposition.ts');
  let scraping: Promise<string> | null = null;
  const server = createHttpServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      events.unexpectedError(error, { requestId: path });
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

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url } = request;
    const requested = url?.replace(/\?.*/, '');
    if (requested === '/purge' && operatorKey !== null) return send(...(await answerPurge(request, operatorKey)));
    if (requested !== path) return send(404, 'The metrics are at /metrics.\n');
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

  async function answerPurge(request: IncomingMessage, key: string): Promise<[status: number, text: string]> {
    if (request.method !== 'POST') return [405, 'Look-ups are purged with POST.\n'];
    // The duration of a comparison of hashes tells nothing about the key.
    const [, given = ''] = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
    if (hash('sha256', given) !== hash('sha256', key)) return [401, 'authorization must be Bearer and OPERATOR_KEY.\n'];
    let body = '';
    // Read to its end, so that the client reads the answer.
    for await (const chunk of request.setEncoding('utf8')) if (body.length <= maxBodyLength) body += chunk;
    if (body.length > maxBodyLength) return [413, `The body must have at most ${maxBodyLength} characters.\n`];
    const purged = readPurgedValue(body);
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

const maxBodyLength = 1_000;

const path = '/metrics';

/** Few clients scrape. A connection that sends or reads nothing is closed, so that it does not keep them out. */
const limits = { maxConnections: 20, maxRequestsPerConnection: 5, clientTimeoutMs: 10_000 };
