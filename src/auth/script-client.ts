import type { RedisConnection } from '../stores/redis-connection.ts';
import { StoreError } from '../stores/store.ts';

/**
 * What rate-limiter-flexible uses of an ioredis client, over a connection that fails at once while Redis is down.
 * @param onFailed called with the reason of each failure
 */
export function createScriptClient({ run }: RedisConnection, onFailed: (reason: string) => void) {
  let script = '';
  return {
    defineCommand(_name: string, { lua }: { lua: string }) {
      script = lua;
    },
    /** @param args one key, then the arguments of the script */
    async rlflxIncr(args: readonly string[]): Promise<unknown> {
      try {
        return await run((redis) => redis.eval(script, 1, ...args));
      } catch (error) {
        onFailed(error instanceof StoreError ? error.reason : 'unusable');
        throw error;
      }
    },
  };
}
