import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface StartedGateway {
  /** Its origin, once it listens; null where it ended instead, having said why. */
  url: Promise<string | null>;
  /** Asks it to stop, which lets running queries finish. */
  stop(): void;
  /** Its exit code, when it has ended; null where a signal ended it. */
  ended: Promise<number | null>;
}

/** What `npm start` starts, from the sources: a process of its own, with this environment. */
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

/** It prints where GraphiQL is when it is ready. */
async function readUrl(child: ChildProcess): Promise<string | null> {
  if (child.stdout === null) return null;
  for await (const line of createInterface(child.stdout)) {
    const url = line.match(/GraphiQL +(\S+)\/graphql$/)?.[1];
    if (url === undefined) continue;
    // Nobody reads on, yet the rest must go somewhere.
    child.stdout.resume();
    return url;
  }
  return null;
}
