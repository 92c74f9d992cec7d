import { EventEmitter, once } from 'node:events';
import { afterAll, describe, expect, it } from 'vitest';
import { type CountingEssayService, tCountingEssayService } from './counting-essay-service.ts';
import { type CrashingGateway, tCrashingGateway } from './crashing-gateway.ts';
import { createDraw } from './draw.ts';
import { createKillFigures } from './kill-figures.ts';
import { nextTurn, orderUntilKilled } from './order-until-killed.ts';
import type { RunningGateway, WrittenEssay } from './running-gateway.ts';

/*
 * The process is killed at any moment while essays are written, and started again on what it left. For more than three
 * kills, figures, and a lock that expires on a real clock (half a minute):
 *   CRASH_ROUNDS=50 npx vitest run test/e2e/crash.test.ts
 * The moments are drawn; CRASH_SEED=1000 draws others. A seed draws the same ones again, as far as two processes ever
 * do the same twice.
 */

const wantedRounds = Number(process.env.CRASH_ROUNDS ?? 0);
const firstSeed = Number(process.env.CRASH_SEED ?? 1);
/** Few, so that many folders are begun. */
const roundsPerFolder = 3;
const folders = Math.ceil((wantedRounds || roundsPerFolder) / roundsPerFolder);
const seeds = Array.from({ length: folders }, (_, index) => firstSeed + index);
const ordersPerRound = 12;
const figures = createKillFigures();

afterAll(() => {
  if (wantedRounds > 0) process.stdout.write(`\n${figures}\n`);
});

describe('a gateway that is killed while essays are written', () => {
  it.each(seeds)(
    'has those that it stored, and pays for none of them twice (seed %i)',
    async (seed) => {
      const draw = createDraw(seed);
      const happenings = new EventEmitter();
      const service = await tCountingEssayService({
        write: async () => {
          for (let left = draw(400); left > 0; left -= 1) await nextTurn();
        },
        onChanged: () => happenings.emit('event'),
      });
      const crashing = tCrashingGateway({ essaysUrl: service.url });
      /** What each key was answered with first. */
      const answered = new Map<string, WrittenEssay>();
      const sent: string[] = [];
      let unsettled = 0;

      let gateway = await crashing.start();
      for (let round = 1; round <= roundsPerFolder; round += 1) {
        const keys = Array.from({ length: ordersPerRound }, (_, index) => `Order ${seed}-${round}-${index}`);
        const outcome = await orderUntilKilled({ gateway, keys, happenings, draw });
        await service.nothingOnItsWay();
        sent.push(...outcome.sent);
        for (const [key, essay] of outcome.answered) answered.set(key, essay);
        unsettled += outcome.sent.length - outcome.answered.size;

        const stored = await crashing.stored(sent);
        for (const [key, essay] of answered) expect(stored.get(key), `${key} was answered`).toEqual(essay);
        const arrived = service.calls.length;
        gateway = await crashing.start();
        const counted = await gateway.counted('ESSAYS');
        expect(counted).toBeGreaterThanOrEqual(arrived);
        expect(counted).toBeLessThanOrEqual(arrived + unsettled);
        const answers = await orderAllAgain({ gateway, crashing, service, sent, stored });
        for (const [key, essay] of answers) answered.set(key, essay);
        figures.add({ ...outcome, stored, counted, calls: service.calls.slice(0, arrived) });
      }
    },
    120_000,
  );

  // Half a minute, for which a run of all tests does not wait: there, the clock is told to be later.
  if (wantedRounds > 0) {
    it('has an order that it was killed at taken over when its lock expires', async () => {
      const happenings = new EventEmitter();
      const service = await tCountingEssayService({
        write: async () => {
          if (service.calls.length === 1) await new Promise(() => {});
        },
        onChanged: () => happenings.emit('event'),
      });
      const crashing = tCrashingGateway({ essaysUrl: service.url, clock: 'real' });
      const killed = await crashing.start();
      const order = killed.order('Order', 'Order');
      await once(happenings, 'event');
      killed.process.kill('SIGKILL');
      await expect(order).rejects.toThrow();
      const next = await crashing.start();
      const startedAt = performance.now();
      await next.order('Order', 'Order');
      figures.addTakeover(performance.now() - startedAt);
      expect(service.calls).toHaveLength(2);
    }, 120_000);
  }
});

interface Again {
  gateway: RunningGateway;
  crashing: CrashingGateway;
  service: CountingEssayService;
  sent: readonly string[];
  stored: ReadonlyMap<string, WrittenEssay>;
}

/** Two clients at once send each order again: what is stored costs nothing, and what is not is written once. */
async function orderAllAgain({ gateway, crashing, service, sent, stored }: Again): Promise<Map<string, WrittenEssay>> {
  const before = new Map(sent.map((key) => [key, service.callsFor(key).length]));
  const newCalls = (key: string) => service.callsFor(key).length - (before.get(key) ?? 0);
  const orders = new Map(sent.map((key) => [key, Promise.all([gateway.order(key, key), gateway.order(key, key)])]));
  const answers = new Map<string, WrittenEssay>();
  // Where an expectation fails, the others are left behind.
  for (const order of orders.values()) order.catch(() => {});

  for (const [key, essay] of stored) {
    expect(await orders.get(key), `${key} is stored`).toEqual([essay, essay]);
    answers.set(key, essay);
  }
  // The rest may wait for a lock of the process that was killed.
  crashing.passTime(gateway);
  for (const [key, order] of orders) {
    const [one, other] = await order;
    expect(other, `${key}, twice at once`).toEqual(one);
    expect(newCalls(key), `calls for ${key}`).toBe(stored.has(key) ? 0 : 1);
    answers.set(key, one);
  }
  return answers;
}
