import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Behavior } from './scripted-ibans.ts';

export type UpstreamCommand = { forcedBehavior: Behavior | null } | { report: true };
export type UpstreamAnswer = { url: string } | UpstreamReport;

export interface UpstreamReport {
  /** Time of the command, in milliseconds since the epoch. */
  at: number;
  /** Arrival times of the calls since the last report. */
  arrivals: number[];
}

export interface ScriptedUpstream {
  url: string;
  /** The variables of a gateway that calls it. */
  env: Record<string, string>;
  /** Forces one behavior for all requests; null: each request selects its own. */
  setBehavior(forcedBehavior: Behavior | null): Promise<UpstreamReport>;
  report(): Promise<UpstreamReport>;
  close(): Promise<void>;
}

/** Starts the scripted upstream as a child process, with an event loop of its own. */
export async function startUpstream({ latencyMs = 10 } = {}): Promise<ScriptedUpstream> {
  const child = fork(fileURLToPath(new URL('upstream-process.ts', import.meta.url)), [String(latencyMs)], {
    execArgv: ['--import', 'tsx'],
  });
  const ended = once(child, 'exit').then(() => {
    throw new Error('the scripted upstream exited');
  });
  ended.catch(() => {});
  const { url } = await nextMessage<{ url: string }>();

  return {
    url,
    env: {
      ...{ BANK_DATA_URL: url, BANK_DATA_API_KEY: 'bench-bank-data' },
      ...{ ESSAY_URL: url, ESSAY_API_KEY: 'bench-essays' },
    },
    setBehavior: (forcedBehavior) => send({ forcedBehavior }),
    report: () => send({ report: true }),
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.disconnect();
      await once(child, 'exit');
    },
  };

  function send(command: UpstreamCommand): Promise<UpstreamReport> {
    const answer = nextMessage<UpstreamReport>();
    child.send(command);
    return answer;
  }

  async function nextMessage<Message>(): Promise<Message> {
    const [message] = await Promise.race([once(child, 'message'), ended]);
    return message as Message;
  }
}
