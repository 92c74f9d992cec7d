import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface StartedGateway {
  /** Its origin, once it listens; null if it exited instead and printed why. */
  url: Promise<string | null>;
  /** Sends SIGTERM; running queries are finished. */
  stop(): void;
  /** Its exit code; null if a signal ended it. */
  ended: Promise<number | null>;
}

/** Starts the gateway from its sources as a child process. */
export function startGateway(env: NodeJS.ProcessEnv): StartedGateway {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/main.ts'], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return {
    url: readUrl(child),
    stop: () => void child.kill('SIGTERM'),
    ended: once(child, 'close').then(([code]) => code as number | null),
  };
}

/** The gateway prints the URL of GraphiQL when it is ready. */
async function readUrl(child: ChildProcess): Promise<string | null> {
  if (child.stdout === null) return null;
  for await (const line of createInterface(child.stdout)) {
    const url = line.match(/GraphiQL +(\S+)\/graphql$/)?.[1];
    if (url === undefined) continue;
    // Discard further output, so that the pipe does not fill up.
    child.stdout.resume();
    return url;
  }
  return null;
}
