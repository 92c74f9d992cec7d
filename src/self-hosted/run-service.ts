import type { FastifyInstance } from 'fastify';

interface RunServiceOptions {
  /** As it is called in the line that says where it listens. */
  name: string;
  app: Pick<FastifyInstance, 'listen' | 'close'>;
  host: string;
  /** 0: any free port. */
  port: number;
}

/**
 * Serves until SIGTERM or SIGINT; then requests in flight are answered and the process ends by itself. Resolves when
 * the service listens, which it says in one line on standard output; rejects where it cannot.
 */
export async function runService({ name, app, host, port }: RunServiceOptions): Promise<void> {
  const url = await app.listen({ host, port }).catch(async (error: unknown) => {
    await app.close();
    throw error;
  });
  process.stdout.write(`The ${name} service listens on ${url}\n`);

  // A terminal and npm may both hand on one Ctrl-C, so further signals change nothing.
  const stop = () => void app.close();
  process.on('SIGTERM', stop).on('SIGINT', stop);
}
