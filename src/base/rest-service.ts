import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { stopOnSignal } from './process/stop-signals.ts';

export interface EmbeddedService {
  listen(options: { host: string; port: number }): Promise<string>;
  close(): Promise<unknown>;
}

interface ResolvedUpstream {
  access: { url: string; apiKey: string };
  description: string;
}

/**
 * The configured upstream, or a self-hosted service inside this process, on a free loopback port with a random key. Adds the
 * service to `services`.
 */
export async function resolveUpstream(
  upstream: ResolvedUpstream['access'] | null,
  services: EmbeddedService[],
  createService: (apiKey: string) => Promise<{ service: EmbeddedService; note?: string }>,
): Promise<ResolvedUpstream> {
  if (upstream) return { access: upstream, description: upstream.url };
  const apiKey = randomBytes(24).toString('base64url');
  const { service, note = '' } = await createService(apiKey);
  services.push(service);
  const url = await service.listen({ host: '127.0.0.1', port: 0 });
  return { access: { url, apiKey }, description: `self-hosted at ${url}${note}` };
}

interface RunServiceOptions {
  /** For the start message. */
  name: string;
  app: Pick<FastifyInstance, 'listen' | 'close'>;
  host: string;
  /** 0 for any free port. */
  port: number;
}

/**
 * Serves until SIGTERM or SIGINT, then completes requests in flight and stops. Resolves when the service listens and its
 * address is written to standard output; rejects if it cannot listen.
 */
export async function runService({ name, app, host, port }: RunServiceOptions): Promise<void> {
  const url = await app.listen({ host, port }).catch(async (error: unknown) => {
    await app.close();
    throw error;
  });
  process.stdout.write(`The ${name} service listens on ${url}\n`);

  stopOnSignal(process, { delayMs: 0, announce() {}, stop: async () => app.close() });
}

/** Compares digests of a header and the key in constant time: response times reveal neither the key nor its length. */
export function createKeyCheck(apiKey: string): (header: string | string[] | undefined) => boolean {
  const expected = digest(apiKey);
  return (header) => typeof header === 'string' && timingSafeEqual(digest(header), expected);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
