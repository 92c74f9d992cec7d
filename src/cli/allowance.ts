import { existsSync } from 'node:fs';
import { ConfigError, type ServiceName, serviceNames, UsageError } from '../base/errors.ts';
import { print, printError } from '../base/process/terminal.ts';
import { readConfig } from '../gateway/config/read-config.ts';
import { lmdbPath } from '../gateway/stores/lmdb-store.ts';
import { StoreError } from '../gateway/stores/store.ts';
import { createAllowance } from '../gateway/upstream/allowance/allowance.ts';
import { openPaidCalls } from './paid-calls.ts';

export type AllowanceAction = 'show' | 'set' | 'refund';

/**
 * Prints the calls of this month, or corrects their count first, for all gateways that share the store. Running ones notice it with
 * their next write, or before they refuse a call.
 * @throws UsageError; ConfigError if the store cannot be used
 */
export async function runAllowance(action: AllowanceAction, service?: ServiceName, calls?: string): Promise<void> {
  const config = readConfig(process.env);
  if (action !== 'show' && service === undefined)
    throw new UsageError(`${action} needs a service, ${serviceNames.join(' or ')}, and a number of calls`);
  const amount = action === 'show' ? 0 : readCalls(calls);
  if (config.store.redis === null && !existsSync(lmdbPath(config.dataDir)))
    printError(`${config.dataDir} has no store; DATA_DIR must be that of the gateway\n`);
  const access = config.bankData.upstream ?? config.essays.upstream ?? { url: 'http://localhost', apiKey: '' };
  const { store, replicas, events, close } = await openPaidCalls(config, { access, logLevel: 'error' });
  try {
    await store.get('any'); // Without a limit, a count that cannot be read would be 0.
    for (const name of service === undefined ? serviceNames : [service]) {
      const { monthlyAllowance: limit } = name === 'essays' ? config.essays : config.bankData;
      const allowance = createAllowance({ service: name, limit, store, replicas, events });
      if (action !== 'show') await allowance.correct((used) => (action === 'set' ? amount : refund(used, amount)));
      const status = await allowance.status();
      if (status === null) throw new StoreError('not connected');
      const left = status.limit === null ? 'unlimited' : `${status.remaining} of ${status.limit} left`;
      print(`${name}: ${status.used} used, ${left}, until ${status.renewsAt.toISOString()}\n`);
      await allowance.flush();
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new ConfigError([`${error.reason}: the count was not read or not changed`], 'The store cannot be used');
  } finally {
    await close();
  }
}

/** @throws UsageError if fewer calls are counted */
function refund(used: number, calls: number): number {
  if (calls <= used) return used - calls;
  throw new UsageError(`only ${used} calls are counted this month, so that ${calls} cannot be given back`);
}

function readCalls(text = ''): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(
    `the number of calls must be a whole number of at most nine digits, but is ${JSON.stringify(text)}`,
  );
}
