import { Redis } from 'ioredis';
import { readRedisUrl } from './redis-url.ts';
import { StoreError } from './store.ts';

export interface RedisConnectionOptions {
  /** redis:// or rediss://, with user name and password where they are needed. */
  url: string;
  /** How long a command may take, and one that comes first of all may wait for the connection. */
  commandTimeoutMs: number;
  /** Redis stopped answering, or did not answer at first; why in a word or two, without address and credentials. */
  onDown: (reason: string) => void;
  /** Redis answers, at first or again. */
  onUp: () => void;
}

export interface RedisConnection {
  /** Runs a command. While Redis is away it fails at once. @throws StoreError */
  run<T>(command: (redis: Redis) => Promise<T>): Promise<T>;
  isUp(): boolean;
  close(): Promise<void>;
}

/**
 * A connection that comes back by itself for ever, and through which nothing waits for that.
 * @throws ConfigError where the URL is none
 */
export function createRedisConnection({
  url,
  commandTimeoutMs,
  onDown,
  onUp,
}: RedisConnectionOptions): RedisConnection {
  const redis = new Redis({
    ...readRedisUrl(url),
    commandTimeout: commandTimeoutMs,
    // A command whose answer got lost may have been done: it is never sent twice.
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: reconnectDelayMs,
    connectTimeout: Math.max(commandTimeoutMs, 2_000),
    disconnectTimeout: 100,
    maxLoadingRetryTime: 1_000,
    keepAlive: 30_000,
    disableClientInfo: true,
  });
  let state: 'connecting' | 'up' | 'down' | 'closed' = 'connecting';
  let lastFault: string | null = null;
  let endFirstAttempt = () => {};
  const firstAttempt = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, commandTimeoutMs);
    endFirstAttempt = () => {
      clearTimeout(timer);
      resolve();
    };
  });

  redis.on('connecting', () => {
    lastFault = null;
  });
  redis.on('ready', () => {
    // Without its database number accepted, ioredis would go on in database 0.
    if (lastFault !== null) redis.disconnect(true);
    if (lastFault !== null || state === 'closed') return;
    state = 'up';
    endFirstAttempt();
    onUp();
  });
  redis.on('error', (error) => {
    lastFault = reasonOf(error);
  });
  redis.on('close', () => goDown(lastFault ?? 'connection lost'));

  function goDown(reason: string): void {
    if (state === 'down' || state === 'closed') return;
    state = 'down';
    endFirstAttempt();
    onDown(reason);
  }

  /** Whoever does not answer in time may be gone without a word; the next connection shows whether it is. */
  function reconnect(): void {
    if (state !== 'up') return;
    goDown(timedOut);
    redis.disconnect(true);
  }

  return {
    async run(command) {
      if (state === 'connecting') await firstAttempt;
      if (state !== 'up') throw new StoreError(state === 'closed' ? 'closed' : 'not connected');
      try {
        return await command(redis);
      } catch (error) {
        const reason = reasonOf(error);
        if (reason === timedOut) reconnect();
        // Without the error as its cause: ioredis puts the command into it, and with that keys, values and passwords.
        throw new StoreError(reason);
      }
    },
    isUp: () => state === 'up',
    async close() {
      const wasUp = state === 'up';
      state = 'closed';
      endFirstAttempt();
      // Redis answers it after all commands before it; the time it has for that is bounded like theirs.
      if (wasUp) await redis.quit().catch(() => {});
      redis.disconnect();
    },
  };
}

const timedOut = 'timed out';

/** Doubles from 50 ms up to 2 s, less a random part, so that replicas do not come back all at once. */
function reconnectDelayMs(attempt: number): number {
  return Math.min(50 * 2 ** (attempt - 1), 2_000) * (0.5 + Math.random() / 2);
}

/** The code of a system error, or the word that an error of Redis begins with. Anything else might hold an address. */
function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== undefined) return code;
  if (message.endsWith('Command timed out')) return timedOut;
  return /^(?:Ready check failed: )?([A-Z]{2,})\b/.exec(message)?.[1] ?? 'connection lost';
}
