import type { FastifyInstance } from 'fastify';

interface RunServiceOptions {
  /** For the line with its address. */
  name: string;
  app: Pick<FastifyInstance, 'listen' | 'close'>;
  host: string;
  /** 0 for any free port. */
  port: number;
}

/**
 * Serves until SIGTERM or SIGINT; then requests in flight are finished and the process ends. Resolves when the service
 * listens, after it has written its address to standard output; rejects if it cannot listen.
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
