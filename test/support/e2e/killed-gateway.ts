import type { EventEmitter } from 'node:events';
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import { tFolder } from '../gateway/stores/folder.ts';
import { tGateway } from '../gateway.ts';
import {
  type GatewayProcess,
  noUpstreams,
  type OrderData,
  orderMutation,
  orderVariables,
  readEssay,
  tGatewayProcess,
  type WrittenEssay,
} from '../gateway-process.ts';
import type { Random } from './random.ts';

export interface KilledGateway {
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
export function tKilledGateway({ essaysUrl }: { essaysUrl: string }): KilledGateway {
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
export async function killUnderLoad({ gateway, keys, changes, random }: LoadOptions) {
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

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
