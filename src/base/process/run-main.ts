import { ConfigError, UsageError } from '../errors.ts';
import { printError } from './terminal.ts';

export interface MainOptions {
  /** The variable, or the option, of its port. */
  portVariable?: string;
  /** For a failure that is not wrong usage. */
  failureExitCode?: number;
}

/**
 * Runs the main function of a process. A failure sets the exit code to 1, or 2 for wrong usage, and is written to
 * standard error: as one message if an operator can fix it, otherwise with its stack.
 */
export async function runMain(
  main: () => Promise<void>,
  { portVariable = 'PORT', failureExitCode = 1 }: MainOptions = {},
): Promise<void> {
  ignoreClosedOutput();
  try {
    await main();
  } catch (error) {
    process.exitCode = error instanceof UsageError ? 2 : failureExitCode;
    printError(`${describeFailure(error, portVariable)}\n`);
  }
}

/** The process continues if the reader of its output has closed it (EPIPE), as `head` does. */
export function ignoreClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}

function describeFailure(error: unknown, portVariable: string): string {
  if (error instanceof ConfigError) return error.message;
  if (error instanceof UsageError) return `error: ${error.message}`;
  if (!(error instanceof Error)) return String(error);
  const { code = '', address, hostname, port, isMetricsServer }: ListenError = error;
  const reason = isMetricsServer
    ? listenProblems[code]?.replace(/PORT|HOST/, 'METRICS_$&')
    : listenProblems[code]?.replace('PORT', portVariable);
  if (reason === undefined) return error.stack ?? error.message;
  return `Cannot listen on ${address ?? hostname}${port === undefined ? '' : `, port ${port}`}: ${reason}.`;
}

interface ListenError extends NodeJS.ErrnoException {
  address?: string;
  hostname?: string;
  port?: number;
  isMetricsServer?: boolean;
}

const noAddress = 'this machine has no such address; set HOST to one of its addresses, such as 127.0.0.1 or 0.0.0.0';

const listenProblems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process listens there already; set PORT to a free port',
  EADDRNOTAVAIL: noAddress,
  ENOTFOUND: noAddress,
  EAI_AGAIN: noAddress,
  EACCES: 'this user lacks the permission; set PORT to 1024 or higher',
};
