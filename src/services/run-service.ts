import type { FastifyInstance } from 'fastify';
import { ConfigError } from '../errors.ts';

interface RunServiceOptions {
  /** As it is called in the line that says where it listens. */
  name: string;
  app: Pick<FastifyInstance, 'listen' | 'close'>;
  host: string;
  /** 0: any free port. */
  port: number;
}

/**
 * Serves until SIGTERM or SIGINT; then requests in flight are answered and the process ends by itself. A second signal
 * ends it at once. Resolves when the service listens, which it says in one line on standard output.
 */
export async function runService({ name, app, host, port }: RunServiceOptions): Promise<void> {
  const url = await listen(app, host, port);
  if (url === null) {
    await app.close();
    return;
  }
  process.stdout.write(`The ${name} service listens on ${url}\n`);

  const stop = () => void app.close();
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}

/** Runs a process's main. A configuration that is not usable is told on standard error, in words and without a stack. */
export async function runMain(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    fail(error.message);
  }
}

/** Where it listens; null, after saying why, where the system refuses (the port is taken, the host is not ours). */
async function listen(app: RunServiceOptions['app'], host: string, port: number): Promise<string | null> {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error && 'code' in error)) throw error;
    fail(`Cannot listen on ${host}, port ${port}: ${error.code}`);
    return null;
  }
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}
