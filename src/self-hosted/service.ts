import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';

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

  // A terminal and npm may both forward one Ctrl-C, so further signals are ignored.
  const stop = () => void app.close();
  process.on('SIGTERM', stop).on('SIGINT', stop);
}

/** Compares digests of a header and the key in constant time: response times reveal neither the key nor its length. */
export function createKeyCheck(apiKey: string): (header: string | string[] | undefined) => boolean {
  const expected = digest(apiKey);
  return (header) => typeof header === 'string' && timingSafeEqual(digest(header), expected);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
