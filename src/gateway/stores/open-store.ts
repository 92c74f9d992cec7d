import { existsSync } from 'node:fs';
import { ConfigError, type StoreFailure, type StoreRisk } from '../../base/errors.ts';
import type { StoreConfig } from '../config/read-config.ts';
import { type Events, ignore } from '../telemetry/events.ts';
import { createGatewayCount } from './gateway-count.ts';
import { createLmdbStore, lmdbPath } from './lmdb-store.ts';
import { createRedisStore, type RedisStore } from './redis-store.ts';
import {
  checkNamesEveryMs,
  checkSecretFile,
  createSealing,
  readOrCreateSecret,
  withSealing,
  withSecretCheck,
} from './sealed-store.ts';
import { createSharedValues } from './shared-values.ts';
import { type CallKind, type Store, StoreError, withCalls } from './store.ts';
import { describeOtherSecret, findEmptiedStore, findLostStore, type StoreSecretConfig } from './store-secret.ts';

export type OpenedStore = ReturnType<typeof openStore>;

type StoreEvents = Pick<Events, 'storeDown' | 'storeUp' | 'storeFailed' | 'storeRisksChanged'>;

/**
 * Opens the configured store, sealed: Redis if configured, otherwise LMDB in the folder.
 * @throws ConfigError if a file in the folder is damaged, or the store or its generated secret is missing
 */
export function openStore(
  config: StoreSecretConfig & Partial<Pick<StoreConfig, 'replicas'>>,
  folder: string,
  events: StoreEvents,
) {
  const { redis, secret, oldSecret = null, replicas = null } = config;
  const loss = findLostStore(config, folder);
  if (loss !== null) throw new ConfigError([loss]);
  if (secret === null) checkSecretFile(folder);
  const sealing = createSealing(() => secret ?? readOrCreateSecret(folder), oldSecret);
  let redisStore: RedisStore | null = null;
  let risks: readonly StoreRisk[] = [];
  const health = createHealth(events, () => redis === null || redisStore?.isUp() === true);
  if (redis) {
    redisStore = createRedisStore({
      server: redis,
      commandTimeoutMs: 1_000,
      events: {
        storeDown: (reason) => health.markDown(new StoreError(reason)),
        // Redis may be another one after each connection, or still a replica.
        storeUp: () =>
          check()
            .then(() => (health.failure() === 'read-only' ? tryToWrite() : undefined))
            .then(health.markUp)
            .then(findRisks)
            .catch(ignore),
      },
    });
  }
  const { loadKeys } = sealing;
  const unsealed = redisStore ?? createLmdbStore({ folder });
  const emptied = findEmptiedStore(config, folder);
  const checked = withSecretCheck(unsealed, sealing, withSealing(unsealed, loadKeys), emptied !== null);
  const store = withCalls(checked, health.observe);
  const gatewayCount = redis && replicas === null ? createGatewayCount(store) : null;
  const shared =
    redisStore &&
    createSharedValues({
      commands: redisStore.shared,
      loadKeys,
      isOurs: checked.isOurs,
      observeWrite: (write) => health.observe('write', write),
    });
  const timers = [
    // A small write finds out when a store that fails works again.
    setInterval(() => {
      if (health.failure() !== null) tryToWrite().then(health.markUp, ignore);
    }, probeEveryMs),
    // A failure is reported by the next write.
    ...(redis ? [setInterval(() => checked.checkNames().catch(ignore), checkNamesEveryMs)] : []),
    ...(redis ? [setInterval(() => void findRisks().catch(ignore), findRisksEveryMs)] : []),
  ];
  for (const timer of timers) timer.unref();

  function tryToWrite(): Promise<void> {
    return checked.set('probe', '', { expiresInMs: probeEveryMs });
  }

  async function findRisks(): Promise<void> {
    const found = (await redisStore?.findRisks()) ?? [];
    const isNews = found.join() !== risks.join();
    risks = found;
    if (isNews) events.storeRisksChanged(found);
  }

  async function check(): Promise<void> {
    await checked.checkSecret().catch(health.reportError);
  }

  return {
    store: {
      ...store,
      async close() {
        for (const timer of timers) clearInterval(timer);
        gatewayCount?.close();
        await shared?.flush();
        await store.close();
      },
    },
    /** Whether gateways on several machines share it: Redis. */
    isShared: redis !== null,
    /** The values that they share; null without Redis. */
    sharedValues: shared?.values ?? null,
    /** As configured; otherwise counted. */
    replicas: redis && (gatewayCount?.gateways ?? (() => replicas ?? 1)),
    /** Why it does not work; null if it does: it is connected, and its last write succeeded. */
    failure: health.failure,
    /** Why what Redis has stored is not safe. */
    risks: () => risks,
    /** Whether it has ever worked since the start. */
    hasWorked: health.hasWorked,
    /**
     * Call it before the gateway listens. A store that fails is checked as soon as it works: until then, it is not used.
     * @throws ConfigError if the store was written with another secret, or Redis rejects the credentials
     */
    async checkSecret(): Promise<void> {
      // The first write creates the file.
      if (redis === null && !existsSync(lmdbPath(folder))) return;
      try {
        await check();
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        if (error.failure === 'wrong-secret') throw new ConfigError([describeOtherSecret(config, folder)]);
        if (error.failure === 'corrupt' && emptied !== null) throw new ConfigError([emptied]);
        // Unlike an outage, this does not end by itself.
        if (health.failure() === 'credentials') throw new ConfigError([rejectedCredentials]);
      }
    },
    /** The present secret first, then the one that it has replaced, or that replaces it. @throws StoreError if it cannot be created */
    secrets: sealing.secrets,
    /** Seals with this secret from now on; values of all that were known remain readable. */
    async useSecret(present: string, old: string | null): Promise<void> {
      sealing.use(present, old);
      await check().catch(ignore);
    },
    /** Of Redis, from the next connection on. */
    usePassword: (password: string) => redisStore?.usePassword(password),
    /** Adds a listener that is called whenever the store works again after it failed. */
    onRecovered: health.onRecovered,
  };
}

const rejectedCredentials =
  'REDIS_URL: Redis rejects the user or the password, or does not permit a command that the gateway needs; correct them';

const probeEveryMs = 5_000;
const findRisksEveryMs = 60_000;

/** An outage of Redis may end with these, which need another remedy. */
const needsOperator: ReadonlySet<StoreFailure> = new Set(['wrong-secret', 'credentials']);

/** Knows whether a store works: a store that can be read, but is full, does not. */
function createHealth(events: StoreEvents, isConnected: () => boolean) {
  let current: StoreFailure | null = isConnected() ? null : 'unreachable';
  /** Whether the failure was reported by an event. */
  let isReported = false;
  let hasWorked = current === null;
  const listeners: (() => void)[] = [];

  return {
    observe,
    reportError,
    markDown,
    markUp,
    failure: () => current,
    hasWorked: () => hasWorked,
    onRecovered: (listener: () => void) => void listeners.push(listener),
  };

  function markDown({ failure, reason }: StoreError): void {
    events.storeFailed(failure);
    // The calls of an outage do not know its cause.
    if (isReported && reason === 'not connected') return;
    const isKnown = isReported && (current === failure || !needsOperator.has(failure));
    current = failure;
    if (isKnown) return;
    isReported = true;
    events.storeDown(failure, reason);
  }

  /** Has no effect while it is not connected: an answer may arrive after the connection was given up. */
  function markUp(): void {
    if (current === null || !isConnected()) return;
    const isRecovered = isReported;
    current = null;
    hasWorked = true;
    isReported = false;
    events.storeUp();
    if (isRecovered) for (const listener of listeners) listener();
  }

  /** @throws the error */
  function reportError(error: unknown): never {
    if (error instanceof StoreError && error.reason !== 'closed') markDown(error);
    throw error;
  }

  async function observe<Result>(kind: CallKind, call: () => Promise<Result>): Promise<Result> {
    if (kind === 'read') return call();
    const result = await call().catch(reportError);
    if (current !== null && kind === 'write') markUp();
    return result;
  }
}

/** Closes the store if a part that uses it cannot be created: a connection to Redis would keep the process running. */
export function closeOnError<Part>(store: Store, createPart: () => Part): Part {
  try {
    return createPart();
  } catch (error) {
    void store.close();
    throw error;
  }
}
