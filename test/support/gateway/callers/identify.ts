import { createHash } from 'node:crypto';
import { onTestFinished } from 'vitest';
import type { Environment } from '../../../../src/base/variables/read-variables.ts';
import { createAccess } from '../../../../src/gateway/callers/access.ts';
import { readConfig } from '../../../../src/gateway/config/read-config.ts';
import type { Events } from '../../../../src/gateway/telemetry/events.ts';
import { createMemoryStore } from '../stores/memory-store.ts';

export const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** Identifies callers as these variables configure it, with a list of its events. */
export function tIdentify(env: Environment) {
  const events: unknown[] = [];
  const recording = new Proxy({} as Events, {
    get:
      (_, name) =>
      (...args: unknown[]) =>
        void events.push([name, ...args]),
  });
  const { access, store } = readConfig(env);
  const storeConfig = { ...store, secret: null };
  const callers = createAccess({ access, storeConfig, store: createMemoryStore(), replicas: null, events: recording });
  onTestFinished(callers.close);
  return {
    ...callers,
    events,
    /** The id of the caller with this token, or the status of the refusal, with its time to wait if it has one. */
    async callerOf(token: string) {
      const caller = await callers.identifyAndCount(['Authorization', `Bearer ${token}`]);
      if (caller.kind !== 'refused') return 'id' in caller ? caller.id : caller.kind;
      const { status, headers } = caller;
      return 'retry-after' in headers ? `${status}, retry after ${headers['retry-after']} s` : status;
    },
  };
}
