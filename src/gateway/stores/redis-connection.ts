import { createRequire } from 'node:module';
import { setImmediate } from 'node:timers/promises';
import type { Cluster, Redis } from 'ioredis';
import { answerWithin } from '../../base/async/pause.ts';
import type { RedisConfig } from '../config/redis-url.ts';
import { StoreError } from './store.ts';

export interface RedisConnectionOptions {
  server: RedisConfig;
  /** Time limit for a command, and for the wait of the first commands for the connection. */
  commandTimeoutMs: number;
  /** Fired whenever the connection changes; the reason contains no address and no credentials. */
  events: { storeDown(reason: string): void; storeUp(): void };
}

/** Reconnects in the background; only the first commands wait for the connection. */
export function createRedisConnection({ server, commandTimeoutMs, events }: RedisConnectionOptions) {
  /** ioredis does not count those in which only some masters of a cluster could be reached. */
  let failedAttempts = 0;
  let { password } = server;
  let reconnectedAt = Number.NEGATIVE_INFINITY;
  const redis = createClient(server, commandTimeoutMs, () => reconnectDelayMs(++failedAttempts));
  let state: 'connecting' | 'up' | 'down' | 'closed' = 'connecting';
  let lastError: string | null = null;
  let downReason = '';
  /** Number of commands that Redis has answered. */
  let answered = 0;
  let stopWaiting = () => {};
  const firstChange = new Promise<void>((resolve) => {
    stopWaiting = resolve;
  });
  const firstConnect = answerWithin(firstChange, commandTimeoutMs);

  redis.on('connecting', () => {
    lastError = null;
  });
  redis.on('ready', async () => {
    if (redis.isCluster) lastError = await findClusterProblem(redis as Cluster);
    if (state === 'closed') return;
    // If Redis rejects the database number, ioredis would continue with database 0.
    if (lastError !== null) return redis.disconnect(true);
    state = 'up';
    failedAttempts = 0;
    stopWaiting();
    events.storeUp();
  });
  redis.on('error', (error) => {
    lastError = reasonOf(error);
    // While no Sentinel responds, there is no connection that could be closed.
    if (state === 'connecting') markDown(lastError);
  });
  redis.on('close', () => markDown(lastError ?? 'connection lost'));
  // A cluster that lost a master counts as down until all masters respond, because writes may be lost with it. Replicas
  // are not used.
  // Those of a cluster that are found later have the first password.
  redis.on('+node', setPassword);
  redis.on('-node', ({ options }: Redis) => {
    if (isUp() && !options.readOnly) reconnect('connection lost');
  });

  function setPassword({ options }: Redis): void {
    options.password = password;
    if (options.sentinelPassword) options.sentinelPassword = password;
  }

  /** A server that remains read-only must not cost a connection for each write. */
  function isDue(): boolean {
    return performance.now() - reconnectedAt > reconnectEveryMs;
  }

  function reconnect(reason: string): void {
    reconnectedAt = performance.now();
    markDown(reason);
    redis.disconnect(true);
  }

  function markDown(reason: string): void {
    // Redis may return with another password, which needs another remedy.
    const isNews = state !== 'down' || (new StoreError(reason).failure === 'credentials' && reason !== downReason);
    if (!isNews || state === 'closed') return;
    state = 'down';
    downReason = reason;
    stopWaiting();
    events.storeDown(reason);
  }

  return {
    /** Runs a command. Fails at once while Redis is down. @throws StoreError */
    async run<T>(command: (redis: Redis | Cluster) => Promise<T>): Promise<T> {
      if (state === 'connecting') await firstConnect;
      if (state !== 'up') throw new StoreError(state === 'closed' ? 'closed' : 'not connected');
      const result = await settle(command(redis));
      if (result?.status === 'fulfilled') return result.value;
      const reason = result === null ? timedOut : reasonOf(result.reason);
      if (isUp() && (reason === timedOut || (clusterProblems.has(reason) && isDue()))) reconnect(reason);
      // No `cause`: ioredis errors contain the command, and with it keys, values and passwords.
      throw new StoreError(reason);
    },
    isUp,
    /** From the next connection on. */
    usePassword(next: string): void {
      password = next;
      for (const client of 'nodes' in redis ? redis.nodes() : [redis]) setPassword(client);
    },
    async close(): Promise<void> {
      const wasUp = isUp();
      state = 'closed';
      stopWaiting();
      // Redis answers QUIT after all earlier commands.
      if (wasUp) {
        // Earlier commands of this turn of the event loop are sent after it.
        await setImmediate();
        await answerWithin(redis.quit(), commandTimeoutMs);
      }
      redis.disconnect();
    },
  };

  /**
   * Null if Redis does not answer in time. The client sends the commands of one turn of the event loop only after Redis has answered
   * those before them: if it answers such a command meanwhile, this one gets the same time again.
   */
  async function settle<T>(answer: Promise<T>): Promise<PromiseSettledResult<T> | null> {
    const answeredBefore = answered;
    const settling = Promise.allSettled([answer]);
    let settled = await answerWithin(settling, commandTimeoutMs);
    if (settled === undefined && answered > answeredBefore) settled = await answerWithin(settling, commandTimeoutMs);
    if (settled !== undefined) answered += 1;
    return settled?.[0] ?? null;
  }

  function isUp(): boolean {
    return state === 'up';
  }
}

/** @param reconnectDelay returns the pause before the next attempt to connect to a cluster */
function createClient(server: RedisConfig, commandTimeoutMs: number, reconnectDelay: () => number): Redis | Cluster {
  const { kind, addresses, username, password, database, masterName, tls } = server;
  // Loaded only if Redis is configured: it takes 20 ms and 5 MB.
  const ioredis: typeof import('ioredis') = createRequire(import.meta.url)('ioredis');
  const connectTimeout = Math.max(commandTimeoutMs, 2_000);
  const options = {
    username,
    password,
    ...(tls && { tls: {} }),
    // For connecting. The client's timers run before it reads what arrived while the process was busy, so `settle` has its own.
    commandTimeout: 5 * commandTimeoutMs,
    connectTimeout,
    disconnectTimeout: 100,
    maxLoadingRetryTime: 1_000,
    // Not all proxies and services know HELLO, with which version 3 begins; its replies have no advantage here.
    protocol: 2 as const,
    disableClientInfo: true,
  };
  if (kind === 'cluster') {
    return new ioredis.Cluster(addresses, {
      redisOptions: options,
      clusterRetryStrategy: reconnectDelay,
      slotsRefreshTimeout: connectTimeout,
      // A command whose response was lost may have been executed, so it is not sent again.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      // `findClusterProblem` checks all masters.
      enableReadyCheck: false,
      // In a pipeline, ioredis would not follow keys that moved to several nodes, or beside a write.
      enableAutoPipelining: false,
      // Certificates contain host names. By default, they would be replaced with addresses.
      dnsLookup: (host, done) => done(null, host),
    });
  }
  const sentinel = {
    sentinels: addresses,
    name: masterName,
    sentinelRetryStrategy: reconnectDelayMs,
    sentinelCommandTimeout: commandTimeoutMs,
    // The default user without a password accepts any password.
    ...(password !== '' && { sentinelUsername: 'default', sentinelPassword: password }),
    ...(tls && { sentinelTLS: {}, enableTLSForSentinelMode: true }),
  };
  return new ioredis.Redis({
    ...options,
    ...(kind === 'sentinel' ? sentinel : addresses[0]),
    db: database,
    // A command whose response was lost may have been executed, so it is not sent again.
    autoResendUnfulfilledCommands: false,
    // The commands of one turn of the event loop are one write to the socket. Those for many keys were collected already.
    enableAutoPipelining: true,
    autoPipeliningIgnoredCommands: ['mget'],
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: reconnectDelayMs,
  });
}

/** Connects to all masters. Null if all of them can execute commands. */
async function findClusterProblem(cluster: Cluster): Promise<string | null> {
  try {
    const infos = await Promise.all(cluster.nodes('master').map((node) => node.cluster('INFO')));
    // ioredis skips nodes that do not know their own address yet.
    return infos.length > 0 && infos.every((info) => info.includes('cluster_state:ok')) ? null : clusterDown;
  } catch (error) {
    return reasonOf(error);
  }
}

const timedOut = 'timed out';
const clusterDown = 'CLUSTERDOWN';
const readOnly = 'READONLY';

/** Reconnecting shows whether the server has become a replica, and whether the cluster is up again. */
const clusterProblems: ReadonlySet<string> = new Set([readOnly, clusterDown]);
const reconnectEveryMs = 2_000;

/** Doubles from 50 ms up to 2 s; random, so that replicas do not reconnect all at once. */
function reconnectDelayMs(attempt: number): number {
  return Math.min(50 * 2 ** (attempt - 1), 2_000) * (0.5 + Math.random() / 2);
}

/** The code of a system error, or the first word of a Redis error. Other messages could contain an address. */
function reasonOf(error: unknown, otherwise = 'connection lost'): string {
  const { code, message, lastNodeError } = error as NodeJS.ErrnoException & { lastNodeError?: Error };
  if (code !== undefined) return code;
  // If no node of a cluster responds, or no Sentinel, the error contains the one of the last of them.
  const lastError = lastNodeError?.message ?? /^All sentinels .* Last error: (.*)/.exec(message)?.[1];
  if (lastError !== undefined) return reasonOf(new Error(lastError), 'no server reachable');
  if (message.endsWith('Command timed out')) return timedOut;
  // Redis 6 has it at the end of the errors of scripts.
  const [, inScript] = /-(READONLY|OOM|MISCONF) /.exec(message) ?? [];
  if (inScript !== undefined) return inScript;
  if (message.includes('No such master')) return 'unknown master name';
  return /^(?:Ready check failed: )?([A-Z]{2,})\b/.exec(message)?.[1] ?? otherwise;
}
