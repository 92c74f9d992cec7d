import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { type KilledGateway, killUnderLoad, nextTurn, tKilledGateway } from '../support/e2e/killed-gateway.ts';
import { createRandom } from '../support/e2e/random.ts';
import { type RecordingEssayService, tRecordingEssayService } from '../support/e2e/recording-essay-service.ts';
import type { GatewayProcess, WrittenEssay } from '../support/gateway-process.ts';

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
