import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { loadCore, pin } from './pin.ts';

export interface CountingUpstream {
  url: string;
  /** Calls since the last report. */
  report(): Promise<number>;
  close(): Promise<void>;
}

/** The key that it requires. */
export const apiKey = 'bench-bank-data';

/** Starts the bank-data service of the comparison as a child process. */
export async function startCountingUpstream(delayMs: number): Promise<CountingUpstream> {
  const [execPath, ...execArgv] = pin(loadCore, [process.execPath, '--import', 'tsx']);
  const script = fileURLToPath(new URL('upstream-process.ts', import.meta.url));
  const child = fork(script, [String(delayMs), apiKey], { execPath, execArgv });
  const [url] = await once(child, 'message');
  return {
    url,
    async report() {
      const answer = once(child, 'message');
      child.send('report');
      return (await answer)[0];
    },
    async close() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}
