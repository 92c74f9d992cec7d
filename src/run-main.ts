import { ConfigError } from './errors.ts';

/**
 * Runs a process's main. What an operator can mend is told in a sentence on standard error, a fault of ours with all
 * that helps to find it; either way the process ends by itself, with 1.
 */
export async function runMain(main: () => Promise<void>): Promise<void> {
  // Whoever read our output may be gone; that is no reason to stop serving.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  try {
    await main();
  } catch (error) {
    process.exitCode = 1;
    process.stderr.write(`${explain(error)}\n`);
  }
}

function explain(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (!(error instanceof Error)) return String(error);
  const {
    code = '',
    address,
    hostname,
    port,
  } = error as NodeJS.ErrnoException & { address?: string; hostname?: string; port?: number };
  const why = reasonsNotToListen[code];
  if (why === undefined) return error.stack ?? error.message;
  return `Cannot listen on ${address ?? hostname}${port === undefined ? '' : `, port ${port}`}: ${why}.`;
}

const reasonsNotToListen: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process listens there already; choose a free port',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'this machine has no such address',
  EACCES: 'this user may not listen there; ports below 1024 often need more rights',
};
