import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

interface ReadyGateway {
  /** Its origin. */
  url: string;
  /** Whether its essays come from the offline drafter. */
  isDrafter: boolean;
}

export interface StartedGateway {
  /** Once it listens; null if it exited instead and printed why. */
  ready: Promise<ReadyGateway | null>;
  /** Sends SIGTERM; running queries are finished. */
  stop(): void;
  /** Its exit code; null if a signal ended it. */
  ended: Promise<number | null>;
}

/** Starts the gateway from its sources as a child process. */
export function startGateway(env: NodeJS.ProcessEnv): StartedGateway {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli/main.ts'], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    // Only these examples use it, so it stops at once.
    env: { SHUTDOWN_DELAY_MS: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return {
    ready: readSummary(child),
    stop: () => void child.kill('SIGTERM'),
    ended: once(child, 'close').then(([code]) => code as number | null),
  };
}

/** The gateway prints the URL of GraphiQL, then its services, when it is ready: as text, or without a terminal as one line of JSON. */
async function readSummary(child: ChildProcess): Promise<ReadyGateway | null> {
  if (child.stdout === null) return null;
  let url: string | undefined;
  for await (const line of createInterface(child.stdout)) {
    url ??= line.match(/Graph(?:i)?QL(?: +|":")(\S+?)\/graphql\b/)?.[1];
    if (url === undefined || !/\bessays\b/.test(line)) continue;
    // Discard further output, so that the pipe does not fill up.
    child.stdout.resume();
    return { url, isDrafter: line.includes('offline drafter') };
  }
  return null;
}
