import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Manner } from './scripted-ibans.ts';

export type UpstreamOrder = { mannerOfAll: Manner | null } | { report: true };
export type UpstreamAnswer = { url: string } | UpstreamReport;

export interface UpstreamReport {
  /** When it was told, in milliseconds of the epoch. */
  at: number;
  /** When the calls since the last report arrived. */
  arrivals: number[];
}

export interface ScriptedUpstream {
  url: string;
  /** From now on every request is answered so; null: each as it asks for itself. */
  tell(mannerOfAll: Manner | null): Promise<UpstreamReport>;
  report(): Promise<UpstreamReport>;
  close(): Promise<void>;
}

/** Starts the scripted upstream as a process, so that it shares no event loop with the load. */
export async function startUpstream({ latencyMs = 10 } = {}): Promise<ScriptedUpstream> {
  const child = fork(fileURLToPath(new URL('upstream-process.ts', import.meta.url)), [String(latencyMs)], {
    execArgv: ['--import', 'tsx'],
  });
  const ended = once(child, 'exit').then(() => {
    throw new Error('the scripted upstream ended');
  });
  ended.catch(() => {});
  const { url } = await nextMessage<{ url: string }>();

  return {
    url,
    tell: (mannerOfAll) => order({ mannerOfAll }),
    report: () => order({ report: true }),
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.disconnect();
      await once(child, 'exit');
    },
  };

  function order(message: UpstreamOrder): Promise<UpstreamReport> {
    const answer = nextMessage<UpstreamReport>();
    child.send(message);
    return answer;
  }

  async function nextMessage<Message>(): Promise<Message> {
    const [message] = await Promise.race([once(child, 'message'), ended]);
    return message as Message;
  }
}
