import { ConfigError } from './errors.ts';

/**
 * Runs the main function of a process. A failure sets the exit code to 1 and is written to standard error: as one
 * message if an operator can fix it, otherwise with its stack.
 */
export async function runMain(main: () => Promise<void>): Promise<void> {
  // The service continues if the reader of its output is closed (EPIPE).
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  try {
    await main();
  } catch (error) {
    process.exitCode = 1;
    process.stderr.write(`${describeFailure(error)}\n`);
  }
}

function describeFailure(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (!(error instanceof Error)) return String(error);
  const { code = '', address, hostname, port }: ListenError = error;
  const reason = listenProblems[code];
  if (reason === undefined) return error.stack ?? error.message;
  return `Cannot listen on ${address ?? hostname}${port === undefined ? '' : `, port ${port}`}: ${reason}.`;
}

interface ListenError extends NodeJS.ErrnoException {
  address?: string;
  hostname?: string;
  port?: number;
}

const listenProblems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process listens there already; choose a free port',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'this machine has no such address',
  EACCES: 'this user lacks the permission; ports below 1024 often require more privileges',
};
