import type { EventEmitter } from 'node:events';
import type { Draw } from './draw.ts';
import type { RunningGateway, WrittenEssay } from './running-gateway.ts';

const CLIENTS = 4;

interface Options {
  gateway: RunningGateway;
  /** One order each. The last ones may never be sent. */
  keys: readonly string[];
  /** Emits `event` when something can be seen from outside. */
  happenings: EventEmitter;
  draw: Draw;
}

/** Some clients order one essay after the other until the gateway is killed, soon after a drawn happening. */
export async function orderUntilKilled({ gateway, keys, happenings, draw }: Options) {
  const sent: string[] = [];
  const answered = new Map<string, WrittenEssay>();
  const left = [...keys];
  let isKilled = false;

  async function keepOrdering(): Promise<void> {
    for (let key = left.shift(); key !== undefined && !isKilled; key = left.shift()) {
      sent.push(key);
      happenings.emit('event');
      const essay = await gateway.order(key, key).catch((error: unknown) => {
        if (!isKilled) throw error;
      });
      if (essay) answered.set(key, essay);
      happenings.emit('event');
    }
  }

  // An order is seen four times: sent, arrived at the service, finished there, and answered.
  const isTime = passed(happenings, 1 + draw(keys.length * 4 - 1));
  const clients = Array.from({ length: CLIENTS }, keepOrdering);
  await Promise.race([isTime, Promise.all(clients)]);
  await drawnMoment(draw);
  isKilled = true;
  const killedAt = performance.now();
  gateway.process.kill('SIGKILL');
  await Promise.all([gateway.process.ended, ...clients]);
  return { sent, answered, killedAt };
}

function passed(happenings: EventEmitter, count: number): Promise<void> {
  let left = count;
  return new Promise((resolve) => {
    happenings.on('event', function pass() {
      left -= 1;
      if (left > 0) return;
      happenings.off('event', pass);
      resolve();
    });
  });
}

/** At once, some turns of the event loop later, or some milliseconds: about as long as a write to the disk takes. */
async function drawnMoment(draw: Draw): Promise<void> {
  const turnsLeft = [0, draw(50), Number.POSITIVE_INFINITY][draw(2)] ?? 0;
  const until = performance.now() + draw(8_000) / 1_000;
  for (let turn = 0; turn < turnsLeft && performance.now() < until; turn += 1) await nextTurn();
}

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
