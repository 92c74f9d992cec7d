import type { EventEmitter } from 'node:events';
import type { GatewayProcess, WrittenEssay } from '../gateway-process.ts';
import type { Random } from './random.ts';

interface Options {
  gateway: GatewayProcess;
  /** One order per key. The last ones may never be sent. */
  keys: readonly string[];
  /** Emits `change` when the state that is visible from outside changes. */
  changes: EventEmitter;
  random: Random;
}

/** Several clients order one essay after the other, until the gateway is killed soon after a random change. */
export async function killUnderLoad({ gateway, keys, changes, random }: Options) {
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
  const killedAt = performance.now();
  gateway.process.kill('SIGKILL');
  await Promise.all([gateway.process.ended, ...running]);
  return { sent, answered, killedAt };
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
