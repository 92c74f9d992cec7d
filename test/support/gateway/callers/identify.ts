import { createHash } from 'node:crypto';
import { onTestFinished } from 'vitest';
import type { Environment } from '../../../../src/base/variables/read-variables.ts';
import { createIdentify } from '../../../../src/gateway/callers/access.ts';
import { readConfig } from '../../../../src/gateway/config/read-config.ts';

export const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** Identifies callers as these variables configure it, with a list of its events. */
export function tIdentify(env: Environment) {
  const events: unknown[] = [];
  const record =
    (name: string) =>
    (...args: unknown[]) =>
      void events.push([name, ...args]);
  const identify = createIdentify({
    access: readConfig(env).access,
    events: {
      fileReloaded: record('fileReloaded'),
      callersBlocked: record('callersBlocked'),
      fileInvalid: record('fileInvalid'),
      keySetUnavailable: record('keySetUnavailable'),
    },
  });
  onTestFinished(identify.close);
  return {
    ...identify,
    events,
    /** The id of the caller with this token, or the status of the refusal, with its time to wait if it has one. */
    async callerOf(token: string) {
      const caller = await identify.byHeaders(['Authorization', `Bearer ${token}`]);
      if (caller.kind !== 'refused') return 'id' in caller ? caller.id : caller.kind;
      const { status, headers } = caller;
      return 'retry-after' in headers ? `${status}, retry after ${headers['retry-after']} s` : status;
    },
  };
}
