import { EventEmitter, once } from 'node:events';
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { createRandom, type Random } from '../support/e2e/random.ts';
import { type RecordingEssayService, tRecordingEssayService } from '../support/e2e/recording-essay-service.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { tGateway } from '../support/gateway.ts';
import {
  type GatewayProcess,
  noUpstreams,
  type OrderData,
  orderMutation,
  orderVariables,
  readEssay,
  tGatewayProcess,
  type WrittenEssay,
} from '../support/gateway-process.ts';

interface KilledGateway {
  /** Starts it, with the same data folder each time. */
  start(): Promise<GatewayProcess>;
  /** The essays that are stored under these idempotency keys. To be called while no process is running. */
  stored(idempotencyKeys: readonly string[]): Promise<Map<string, WrittenEssay>>;
  /** Advances the clocks of the running process and of later ones: locks expire, essays do not. */
  expireLocks(gateway: GatewayProcess): Promise<void>;
}

/**
 * A gateway to be killed and started again, with a data folder that is deleted when the test ends. Its scripted clock
 * starts in the middle of a month, so that the month does not end.
 */
function tKilledGateway({ essaysUrl }: { essaysUrl: string }): KilledGateway {
  const folder = tFolder();
  const dataDir = join(folder, 'data');
  let aheadMs = Date.UTC(2040, 0, 10) - Date.now();
  let copies = 0;

  return {
    start() {
      return tGatewayProcess({
        NODE_OPTIONS: `--import=data:text/javascript,${scriptClock(aheadMs)}`,
        ...noUpstreams,
        DATA_DIR: dataDir,
        ESSAY_URL: essaysUrl,
      });
    },
    /** Repeats the orders at a gateway without an essay service, after all locks have expired. */
    async stored(idempotencyKeys) {
      const found = new Map<string, WrittenEssay>();
      if (!existsSync(dataDir)) return found;
      // A copy, so that the next process is the first to open the store after the kill.
      copies += 1;
      const copy = join(folder, `copy-${copies}`);
      cpSync(dataDir, copy, { recursive: true, filter: (path) => !path.endsWith('-lock') });
      vi.useFakeTimers({ toFake: ['Date', 'hrtime'], now: Date.now() + aheadMs + lockExpiryMs });
      const gateway = tGateway({ env: { DATA_DIR: copy } });
      for (const key of idempotencyKeys) {
        const { data } = await gateway.ask(orderMutation, orderVariables(key, key));
        const essay = readEssay(data as unknown as OrderData);
        if (essay) found.set(key, essay);
      }
      await gateway.close();
      vi.useRealTimers();
      return found;
    },
    async expireLocks({ process }) {
      aheadMs += lockExpiryMs;
      process.kill('SIGWINCH');
      // Otherwise the lock of a later order might expire, too.
      await process.printed(new RegExp(`clock: ${aheadMs} ms ahead\\n`));
    },
  };
}

/** Longer than the lock of an order lasts. */
const lockExpiryMs = 60_000;

function scriptClock(aheadMs: number): string {
  return encodeURIComponent(`const { now } = Date;
    let aheadMs = ${aheadMs};
    Date.now = () => now() + aheadMs;
    const { bigint } = process.hrtime;
    process.hrtime.bigint = () => bigint() + BigInt(aheadMs) * 1_000_000n;
    process.on('SIGWINCH', () => {
      aheadMs += ${lockExpiryMs};
      process.stdout.write('clock: ' + aheadMs + ' ms ahead\\n');
    });`);
}

interface LoadOptions {
  gateway: GatewayProcess;
  /** One order per key. The last ones may never be sent. */
  keys: readonly string[];
  /** Emits `change` when the state that is visible from outside changes. */
  changes: EventEmitter;
  random: Random;
}

/** Several clients order one essay after the other, until the gateway is killed soon after a random change. */
async function killUnderLoad({ gateway, keys, changes, random }: LoadOptions) {
  const sent: string[] = [];
  const answered = new Map<string, WrittenEssay>();
  const left = [...keys];
  let isKilled = false;

  async function orderAll(): Promise<void> {
    for (let key = left.shift(); key !== undefined && !isKilled; key = left.shift()) {
      sent.push(key);
      changes.emit('change');
      const essay = await gateway.order(key, key).catch((error: unknown) => {
        if (!isKilled) throw error;
      });
      if (essay) answered.set(key, essay);
      changes.emit('change');
    }
  }

  const enough = untilChanged(changes, 1 + random(keys.length * changesPerOrder - 1));
  const running = Array.from({ length: clients }, orderAll);
  await Promise.race([enough, Promise.all(running)]);
  await randomDelay(random);
  isKilled = true;
  gateway.process.kill('SIGKILL');
  await Promise.all([gateway.process.ended, ...running]);
  return { sent, answered };
}

const clients = 4;
/** An order is sent, arrives at the service, is finished there, and is answered. */
const changesPerOrder = 4;

function untilChanged(changes: EventEmitter, count: number): Promise<void> {
  let left = count;
  return new Promise((resolve) => {
    changes.on('change', function countDown() {
      left -= 1;
      if (left > 0) return;
      changes.off('change', countDown);
      resolve();
    });
  });
}

/** None, some turns of the event loop, or some milliseconds: about the duration of a write to the disk. */
async function randomDelay(random: Random): Promise<void> {
  const turnsLeft = [0, random(50), Number.POSITIVE_INFINITY][random(2)] ?? 0;
  const until = performance.now() + random(8_000) / 1_000;
  for (let turn = 0; turn < turnsLeft && performance.now() < until; turn += 1) await nextTurn();
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/*
 * The process is killed at random moments while essays are written, and started again with the same data folder. For
 * more than two kills:
 *   LONG_TESTS=1 CRASH_ROUNDS=50 npx vitest run test/long/crash.test.ts
 * CRASH_SEED=1000 chooses other moments. The same seed chooses the same moments, as far as two processes can be
 * repeated.
 */

const wantedRounds = Number(process.env.CRASH_ROUNDS ?? 0);
const firstSeed = Number(process.env.CRASH_SEED ?? 1);
/** Small, so that many data folders are new. */
const roundsPerFolder = 2;
const folders = Math.ceil((wantedRounds || roundsPerFolder) / roundsPerFolder);
const seeds = Array.from({ length: folders }, (_, index) => firstSeed + index);
const ordersPerRound = 12;
/** A killed process has counted at most half of its calls ahead of time, which are those of a round, twice. */
const maxBlock = ordersPerRound;

describe('a gateway that is killed while essays are written', () => {
  it.each(seeds)('returns the stored essays and pays for none of them twice (seed %i)', async (seed) => {
    const random = createRandom(seed);
    const changes = new EventEmitter();
    const service = await tRecordingEssayService({
      write: async () => {
        for (let left = random(400); left > 0; left -= 1) await nextTurn();
      },
      onChanged: () => changes.emit('change'),
    });
    const killed = tKilledGateway({ essaysUrl: service.url });
    /** The first answer for each key. */
    const answered = new Map<string, WrittenEssay>();
    const sent: string[] = [];
    let unsettled = 0;

    let gateway = await killed.start();
    for (let round = 1; round <= roundsPerFolder; round += 1) {
      const keys = Array.from({ length: ordersPerRound }, (_, index) => `Order ${seed}-${round}-${index}`);
      const outcome = await killUnderLoad({ gateway, keys, changes, random });
      await service.untilIdle();
      sent.push(...outcome.sent);
      for (const [key, essay] of outcome.answered) answered.set(key, essay);
      unsettled += outcome.sent.length - outcome.answered.size;

      const stored = await killed.stored(sent);
      for (const [key, essay] of answered) expect(stored.get(key), `${key} was answered`).toEqual(essay);
      const arrived = service.calls.length;
      gateway = await killed.start();
      const counted = await gateway.counted('ESSAYS');
      expect(counted).toBeGreaterThanOrEqual(arrived);
      expect(counted).toBeLessThanOrEqual(arrived + unsettled + round * maxBlock);
      const answers = await repeatAll({ gateway, killed, service, sent, stored });
      for (const [key, essay] of answers) answered.set(key, essay);
    }
  });

  it('is started again, and orders an essay with an unknown outcome only if the client accepts a second payment', async () => {
    const changes = new EventEmitter();
    const service = await tRecordingEssayService({
      write: async () => {
        if (service.calls.length === 1) await new Promise(() => {});
      },
      onChanged: () => changes.emit('change'),
    });
    const killed = tKilledGateway({ essaysUrl: service.url });
    const first = await killed.start();
    const order = first.order('Pens', 'form-1');
    await once(changes, 'change');
    first.process.kill('SIGKILL');
    await expect(order).rejects.toThrow();

    const next = await killed.start();
    const repeated = expect(next.order('Pens', 'form-1')).rejects.toThrow('may have been paid for');
    await killed.expireLocks(next);
    await repeated;
    await expect(next.order('Pens', 'form-1')).rejects.toThrow('may have been paid for');
    expect(service.calls).toHaveLength(1);

    const essay = await next.order('Pens', 'form-1', { orderAgain: true });
    expect(await next.order('Pens', 'form-1')).toEqual(essay);
    expect(service.calls).toHaveLength(2);
  });
});

interface RepeatOptions {
  gateway: GatewayProcess;
  killed: KilledGateway;
  service: RecordingEssayService;
  sent: readonly string[];
  stored: ReadonlyMap<string, WrittenEssay>;
}

/**
 * Two clients repeat each order at the same time: stored essays cost no call, and neither do orders with an unknown outcome,
 * until the clients accept a second payment. Orders that were never recorded as sent cost one call.
 */
async function repeatAll({ gateway, killed, service, sent, stored }: RepeatOptions) {
  const before = new Map(sent.map((key) => [key, service.callsFor(key).length]));
  const newCalls = (key: string) => service.callsFor(key).length - (before.get(key) ?? 0);
  const order = (key: string, options?: { orderAgain: boolean }) => orderAgainIfUnsafe(gateway, key, options);
  const orders = new Map(sent.map((key) => [key, Promise.all([order(key), order(key)])]));
  const answers = new Map<string, WrittenEssay>();
  // If an expectation fails, the other orders are not awaited.
  for (const order of orders.values()) order.catch(() => {});

  for (const [key, essay] of stored) {
    expect(await orders.get(key), `${key} is stored`).toEqual([essay, essay]);
    answers.set(key, essay);
  }
  // The others may wait for a lock of the killed process.
  await killed.expireLocks(gateway);
  for (const [key, both] of orders) {
    const [one, other] = await both;
    expect(other, `${key}, twice at once`).toEqual(one);
    const isPaid = one !== null && !stored.has(key);
    expect(newCalls(key), `calls for ${key}`).toBe(isPaid ? 1 : 0);
    if (isPaid) expect(before.get(key), `earlier calls for ${key}`).toBe(0);
    const essay = one ?? (await order(key, { orderAgain: true }));
    if (essay === null) throw new Error(`${key} was not ordered again`);
    answers.set(key, essay);
  }
  return answers;
}

/**
 * The scripted clock also expires the lock of an order that is about to be sent, which is then refused as retryable.
 * @returns null if an earlier attempt may have been paid for
 */
async function orderAgainIfUnsafe(
  gateway: GatewayProcess,
  key: string,
  options?: { orderAgain: boolean },
): Promise<WrittenEssay | null> {
  return gateway.order(key, key, options).catch((error: Error) => {
    if (error.message.includes('may have been paid for')) return null;
    if (error.message.includes('paid for only once')) return orderAgainIfUnsafe(gateway, key, options);
    throw error;
  });
}
