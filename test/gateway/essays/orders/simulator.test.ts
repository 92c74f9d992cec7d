import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createAuditTrail } from '../../../../src/gateway/audit/audit-trail.ts';
import { readCalls } from '../../../../src/gateway/audit/read-audit.ts';
import { toOrderId } from '../../../../src/gateway/essays/orders/order.ts';
import type { EssayOrderState, EssayResult } from '../../../../src/gateway/essays/port.ts';
import { type Store, StoreError } from '../../../../src/gateway/stores/store.ts';
import { ignore } from '../../../../src/gateway/telemetry/events.ts';
import { failed, tEssay, timedOut } from '../../../support/gateway/essays/generator.ts';
import { ann, from, keyed, pass, tOrders, useFakeTime } from '../../../support/gateway/essays/orders.ts';
import { tFolder } from '../../../support/gateway/stores/folder.ts';
import { createMemoryStore } from '../../../support/gateway/stores/memory-store.ts';
import { createRandom } from '../../../support/random.ts';

/*
 * Two gateways, one store, scripted services, and fake time. A seed decides what clients do, how services answer, and which operations of
 * the store fail, are slow, lose their answer, or are the last ones of a gateway. More, or others:
 *   ORDER_SEEDS=5000 ORDER_SEED=7 npx vitest run test/gateway/essays/orders/simulator.test.ts
 */

useFakeTime();

const seeds = Number(process.env.ORDER_SEEDS ?? 20);
const firstSeed = Number(process.env.ORDER_SEED ?? 1);
const keys = ['a', 'b'];
const stepsPerSeed = 40;

type Gateway = ReturnType<typeof tSimulated>;
type Random = (below: number) => number;

/** Lets time pass until it is settled. */
async function settle<Result>(work: Promise<Result>): Promise<Result> {
  let isSettled = false;
  const done = () => {
    isSettled = true;
  };
  work.then(done, done);
  for (let waited = 0; !isSettled && waited < 200; waited += 1) await pass(waited < 3 ? 0 : 200);
  if (!isSettled) throw new Error('something does not end');
  return work;
}

/** What happens to an operation of the store. */
const faults = ['crash before', 'crash after', 'fail', 'lose the answer', 'slow', 'slow'] as const;

interface Simulated {
  memory: Store;
  /** Where all gateways write their audit trails. */
  folder: string;
  random: Random;
  history: string[];
  settings: { percent: number };
}

/** A gateway whose operations on the store have faults with this probability, in percent. */
function tSimulated({ memory, folder, random, history, settings }: Simulated, name: string) {
  const events = { auditFailed: ignore, auditRecovered: ignore };
  const trail = createAuditTrail({ folder, keepDays: 30, services: ['essays'], redact: (text) => text, events });
  const state = { hasCrashed: false, isStopping: false, failed: new Set<string>() };
  async function operate(operation: string, call: () => Promise<unknown>): Promise<unknown> {
    const fault = random(100) < settings.percent ? faults[random(faults.length)] : undefined;
    if (fault !== undefined) history.push(`${name} ${operation}: ${fault}`);
    if (fault === 'slow') await new Promise((resolve) => setTimeout(resolve, random(900)));
    if (fault === 'crash before') crash();
    if (fault === 'fail' || state.hasCrashed) throw new StoreError('not connected');
    const result = await call();
    if (fault === 'crash after') crash();
    if (fault === 'lose the answer' || state.hasCrashed) throw new StoreError('timed out');
    return result;
  }
  const store = Object.fromEntries(
    Object.entries(memory).map(([operation, call]) => [
      operation,
      (...args: unknown[]) => operate(operation, () => (call as (...args: unknown[]) => Promise<unknown>)(...args)),
    ]),
  ) as unknown as Store;
  const { orderCallBegins, callEnded } = trail.events;
  const gateway = tOrders({
    store,
    cancelsSent: random(2) === 0,
    trail: {
      orderCallBegins: (call) => state.hasCrashed || orderCallBegins(call),
      callEnded: (call, end) => state.hasCrashed || callEnded(call, end),
    },
  });
  gateway.beforeSent(() => {
    if (state.hasCrashed) throw new Error('a process that has crashed sends nothing');
  });
  function crash(): void {
    state.hasCrashed = true;
    gateway.crash();
  }
  return { ...gateway, name, state, crash, closeTrail: trail.close };
}

/** What the service has received and answered for one key, and what clients have seen. */
interface Seen {
  consents: number;
  /** Calls that the service has refused, of gateways that have learned it. */
  refused: number;
  /** Essays that gateways have received. */
  received: { id: string; by: Gateway }[];
  /** The id of the essay that was shown as stored. */
  shown: string | null;
  /** Whether it was deleted, or cancelled after it was sent. */
  isGone: boolean;
}

function tSimulation(seed: number, folder: string) {
  const draw = createRandom(seed);
  const random: Random = (below) => draw(below - 1);
  const memory = createMemoryStore();
  const history: string[] = [];
  const settings = { percent: [0, 2, 6, 15][random(4)] ?? 0 };
  const all: Gateway[] = [];
  const waiting: Promise<unknown>[] = [];
  const seen = new Map(
    keys.map((key) => [key, { consents: 0, refused: 0, received: [], shown: null, isGone: false } as Seen]),
  );
  const answered = new Set<object>();
  let hasFaults = true;
  const add = () => {
    const gateway = tSimulated({ memory, folder, random, history, settings }, `g${all.length + 1}`);
    all.push(gateway);
    return gateway;
  };
  const living = () => all.filter(({ state }) => !state.hasCrashed && !state.isStopping);
  const pick = () => {
    while (living().length < 2) add();
    return living()[random(living().length)] as Gateway;
  };
  const of = (key: string) => seen.get(key) as Seen;

  /** Calls that the service has received. */
  function sent(key: string): number {
    const calls = all.flatMap(({ calls }) => calls).filter(({ order }) => order.idempotencyKey === key);
    const usages = new Set(calls.map(({ context }) => context.usage));
    return [...usages].reduce((sum, { upstreamCalls }) => sum + upstreamCalls, 0);
  }

  function note(key: string, result: EssayResult | null): void {
    if (result?.kind !== 'essay' || result.isStored === false) return;
    const order = of(key);
    if (!order.isGone) expect(result.id, `${key} was shown with another essay`).toBe(order.shown ?? result.id);
    order.shown = order.isGone ? null : result.id;
  }

  async function look(gateway: Gateway, key: string): Promise<EssayOrderState | null | undefined> {
    const order = await settle(gateway.orders.findByKey(key, ann.id).catch(() => undefined));
    if (order === undefined || gateway.state.hasCrashed) return undefined;
    const state = order?.state ?? null;
    const { shown, isGone, consents } = of(key);
    // A second attempt with consent may still be written when the first one ends after all. Until its failure is stored, its gateway shows it.
    const isAgain = consents > 0 && (state?.kind === 'writing' || (hasFaults && gateway.state.failed.has(key)));
    if (shown !== null && !isGone && !isAgain)
      expect(state, `${key} was shown as finished`).toMatchObject({ kind: 'finished' });
    if (state?.kind !== 'finished') return state;
    const essay = await settle(gateway.essays.find(state.essayId, from(ann.id)).catch(() => undefined));
    if (essay === undefined || gateway.state.hasCrashed) return undefined;
    if (!of(key).isGone) expect(essay, `${key} has no text`).not.toBeNull();
    note(key, essay);
    return state;
  }

  function answer(gateway: Gateway): void {
    const call = gateway.calls.find((each) => each.context.usage.upstreamCalls > 0 && !answered.has(each));
    if (call === undefined) return;
    answered.add(call);
    const key = call.order.idempotencyKey ?? '';
    const result = [tEssay(), tEssay(), failed, timedOut][random(4)] ?? failed;
    history.push(`service answers ${key} of ${gateway.name}: ${result.kind}`);
    const isHeard = !gateway.state.hasCrashed && !call.context.signal.aborted;
    if (isHeard && result === failed) of(key).refused += 1;
    if (result.kind !== 'essay') gateway.state.failed.add(key);
    if (isHeard && result.kind === 'essay') of(key).received.push({ id: result.id, by: gateway });
    call.answer(result);
  }

  async function step(): Promise<void> {
    const gateway = pick();
    const key = keys[random(keys.length)] ?? 'a';
    const order = of(key);
    const ordered = { ...keyed(key), orderAgain: random(6) === 0 };
    const action = random(12);
    const log = (text: string) =>
      void history.push(`${gateway.name} ${text} ${key}${ordered.orderAgain ? ' again' : ''}`);
    if (action <= 2) {
      log('generate');
      if (ordered.orderAgain) order.consents += 1;
      const client = new AbortController();
      const generated = gateway.essays.generate(ordered, from(ann.id, client.signal)).catch(() => null);
      waiting.push(generated.then((result) => note(key, result)));
      if (random(4) === 0) waiting.push(pass(random(50)).then(() => client.abort()));
    } else if (action <= 4) {
      log('start');
      if (ordered.orderAgain) order.consents += 1;
      waiting.push(gateway.orders.start(ordered, ann));
    } else if (action === 5) {
      log('cancel');
      const { id } = (await settle(gateway.orders.findByKey(key, ann.id).catch(() => null))) ?? {};
      if (id === undefined) return;
      order.isGone = true;
      waiting.push(gateway.orders.cancel(id, ann.id).catch(() => null));
    } else if (action === 6 && random(3) === 0) {
      log('delete');
      const { id } = (await settle(gateway.orders.findByKey(key, ann.id).catch(() => null))) ?? {};
      if (id === undefined) return;
      order.isGone = true;
      // The key is unknown then: the client that deletes it may order once more.
      order.consents += 1;
      waiting.push(gateway.orders.delete(id, ann.id).catch(() => null));
    } else if (action === 7 && random(2) === 0) {
      history.push(`${gateway.name} crashes`);
      gateway.crash();
    } else if (action === 8 && random(2) === 0) {
      history.push(`${gateway.name} stops`);
      gateway.state.isStopping = true;
      waiting.push(gateway.orders.stop());
    } else if (action === 9 && random(2) === 0) {
      const forMs = random(6_000);
      history.push(`${gateway.name} cannot reach the store for ${forMs} ms`);
      gateway.loseStore();
      setTimeout(() => gateway.state.hasCrashed || gateway.findStore(), forMs);
    } else answer(all[random(all.length)] as Gateway);
  }

  /** Each call of the service is in the audit trail: charged, or named unknown, because it was refused, given up, or has not ended. */
  function checkTrail(): void {
    const audited = [...readCalls(folder, '0000', '9999')];
    for (const key of keys) {
      const calls = audited.filter(({ order }) => order === toOrderId(key, ann.id));
      const charged = calls.filter((call) => call.charged === 'yes');
      const unknown = calls.filter((call) => call.charged === 'unknown');
      expect(charged, `charged calls for ${key}`).toHaveLength(of(key).received.length);
      expect(charged.length + unknown.length, `calls for ${key} in the trail`).toBe(sent(key));
    }
  }

  /** No order is paid for twice without consent, and what was shown as stored is there. */
  async function check(): Promise<void> {
    checkTrail();
    for (const key of keys) {
      const { consents, refused } = of(key);
      expect(sent(key), `calls for ${key}`).toBeLessThanOrEqual(1 + refused + consents);
      for (const gateway of living()) await look(gateway, key);
    }
  }

  /** After all faults: each order has ended, says what was sent, and no text is lost that a gateway has received and could store. */
  async function end(): Promise<string[]> {
    settings.percent = 0;
    hasFaults = false;
    for (const gateway of all) if (!gateway.state.hasCrashed) gateway.findStore();
    const survivor = add();
    for (let round = 0; round < 6; round += 1) {
      await pass(6_000);
      for (const { calls } of all)
        for (const call of calls.filter((each) => each.context.usage.upstreamCalls > 0 && !answered.has(each))) {
          answered.add(call);
          call.answer(timedOut);
        }
    }
    await pass(3_000);
    await check();
    const ends: string[] = [];
    for (const key of keys) {
      const state = await look(survivor, key);
      const { received, shown, isGone } = of(key);
      const kind = state === undefined ? 'unreadable' : (state?.kind ?? 'unknown');
      expect(kind, `the end of ${key}`).toMatch(/^(finished|failed|cancelled|unknown)$/);
      if (shown !== null && !isGone) expect(kind, `${key} was shown as finished`).toBe('finished');
      if (sent(key) > 0 && !isGone) expect(kind, `${key} was sent`).toMatch(/^(finished|failed)$/);
      for (const { id, by } of received) {
        const isExcused = isGone || by.state.hasCrashed || by.fired.some((event) => event.startsWith('lost'));
        if (!isExcused) expect(state, `the text of ${key}`).toEqual({ kind: 'finished', essayId: id });
      }
      ends.push(`${kind} ${Math.min(2, sent(key))}`);
    }
    for (const { orders, essays } of all) {
      await settle(orders.stop());
      await settle(essays.close());
    }
    for (const { closeTrail } of all) closeTrail();
    await settle(Promise.all(waiting));
    return ends;
  }

  return {
    history,
    async run(): Promise<string[]> {
      for (let number = 0; number < stepsPerSeed; number += 1) {
        await step();
        await pass([0, 0, 10, 300, 1_000, 3_000][random(6)] ?? 0);
        await check();
      }
      return end();
    },
  };
}

it(`no order is paid for twice without consent, none is lost after it was shown, and each ends (${seeds} seeds from ${firstSeed})`, {
  timeout: 60_000 + seeds * 2_000,
}, async () => {
  const ends = new Set<string>();
  const trails = tFolder();
  for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1) {
    const folder = mkdtempSync(join(trails, 'seed-'));
    const { run, history } = tSimulation(seed, folder);
    const found = await run().catch((error: Error) => {
      throw new Error(`ORDER_SEED=${seed} ORDER_SEEDS=1: ${error.message}\n${history.join('\n')}`, { cause: error });
    });
    for (const each of found) ends.add(each);
    rmSync(folder, { recursive: true });
  }
  // A search that reaches few ends would find little.
  if (seeds >= 20)
    for (const each of ['finished 1', 'failed 1', 'failed 2', 'finished 2']) expect(ends).toContain(each);
});
