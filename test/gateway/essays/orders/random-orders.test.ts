import { expect, it } from 'vitest';
import type { EssayResult } from '../../../../src/gateway/essays/port.ts';
import type { Store } from '../../../../src/gateway/stores/store.ts';
import { createRandom } from '../../../support/e2e/random.ts';
import { failed, order, tEssay, timedOut } from '../../../support/gateway/essays/generator.ts';
import { ann, tOrders } from '../../../support/gateway/essays/orders.ts';
import { from, pass, useFakeTime } from '../../../support/gateway/essays/processes.ts';
import { createMemoryStore } from '../../../support/gateway/stores/memory-store.ts';

/*
 * Random clients, answers of the service, and crashes at any operation of the store. Longer:
 *   FUZZ_ORDERS=5000 FUZZ_SEED=7 npx vitest run test/gateway/essays/orders/random-orders.test.ts
 */

useFakeTime();

const rounds = Number(process.env.FUZZ_ORDERS ?? 60);
const seed = Number(process.env.FUZZ_SEED ?? 1);

type Process = ReturnType<typeof tProcess>;

/** A process that crashes at a chosen operation of its store, counted from now. */
function tProcess(memory: Store) {
  let operationsLeft = Number.POSITIVE_INFINITY;
  let crash = () => {};
  const store = Object.fromEntries(
    Object.entries(memory).map(([name, operate]) => [
      name,
      (...args: unknown[]) => {
        operationsLeft -= 1;
        if (operationsLeft <= 0) crash();
        return operate(...args);
      },
    ]),
  ) as unknown as Store;
  const running = tOrders({ store, cancelsSent: true });
  const state = { hasCrashed: false, answered: 0 };
  crash = () => {
    state.hasCrashed = true;
    running.crash();
  };
  return {
    ...running,
    state,
    crashAfter: (operations: number) => {
      operationsLeft = operations;
    },
  };
}

async function runOne(random: (below: number) => number): Promise<string> {
  const memory = createMemoryStore();
  let processes: Process[] = [tProcess(memory), tProcess(memory)];
  const all = [...processes];
  const waiting: Promise<unknown>[] = [];
  const steps: string[] = [];
  const counts = { refused: 0, consents: 0, essays: 0 };
  const answers: (() => EssayResult)[] = [() => tEssay(), () => failed, () => timedOut];
  const sent = () => all.flatMap(({ calls }) => calls).filter(({ context }) => context.usage.upstreamCalls > 0).length;

  for (let step = 0; step < 12; step += 1) {
    const process = processes[random(processes.length)] as Process;
    const orderAgain = random(6) === 0;
    const ordered = { ...order, idempotencyKey: 'a', orderAgain };
    const action = random(7);
    steps.push(`${processes.indexOf(process)}:${action}${orderAgain ? '+' : ''}`);
    if (action <= 1) {
      if (orderAgain) counts.consents += 1;
      const client = new AbortController();
      const generated = process.essays.generate(ordered, from(ann.id, client.signal)).catch(() => null);
      waiting.push(generated);
      if (random(4) === 0) void pass(random(50)).then(() => client.abort());
    } else if (action === 2) {
      if (orderAgain) counts.consents += 1;
      waiting.push(process.orders.start(ordered, ann));
    } else if (action === 3) {
      const { id } = (await process.orders.findByKey('a', ann.id).catch(() => null)) ?? {};
      if (id) waiting.push(process.orders.cancel(id, ann.id).catch(() => null));
    } else if (action === 4) {
      const call = process.calls[process.state.answered];
      if (call && call.context.usage.upstreamCalls > 0) {
        process.state.answered += 1;
        const answer = answers[random(answers.length)]?.() ?? failed;
        if (answer === failed) counts.refused += 1;
        if (answer.kind === 'essay' && !process.state.hasCrashed && !call.context.signal.aborted) counts.essays += 1;
        call.answer(answer);
      }
    } else if (action === 5 && processes.length < 5) process.crashAfter(random(15));
    for (const crashed of processes.filter(({ state }) => state.hasCrashed)) {
      processes = processes.filter((one) => one !== crashed);
      const next = tProcess(memory);
      processes.push(next);
      all.push(next);
    }
    await pass([0, 0, 10, 500, 3_000, 12_000][random(6)] ?? 0);
    expect(sent(), steps.join(' ')).toBeLessThanOrEqual(1 + counts.refused + counts.consents);
  }

  // An order without a process has ended 10 s later; what is being written is answered.
  const survivor = tProcess(memory);
  all.push(survivor);
  for (let round = 0; round < 4; round += 1) {
    await pass(12_000);
    for (const { calls } of all) for (const call of calls) call.answer(timedOut);
  }
  // At its first look, a process cannot know whether another one has stopped.
  await survivor.orders.findByKey('a', ann.id);
  await pass(3_000);
  const found = (await survivor.orders.findByKey('a', ann.id)) ?? null;
  expect(found?.state.kind ?? 'unknown', steps.join(' ')).toMatch(/^(finished|failed|cancelled|unknown)$/);
  expect(sent(), steps.join(' ')).toBeLessThanOrEqual(1 + counts.refused + counts.consents);
  for (const one of all) {
    await one.orders.stop();
    await one.essays.close();
  }
  await Promise.all(waiting);
  return `${found?.state.kind ?? 'unknown'} ${Math.min(2, sent())}`;
}

it(`no order is sent twice without consent, and none is left without a process (seed ${seed})`, {
  timeout: 60_000 + rounds * 1_000,
}, async () => {
  const draw = createRandom(seed);
  const random = (below: number) => draw(below - 1);
  const ends = new Set<string>();
  for (let round = 0; round < rounds; round += 1) ends.add(await runOne(random));
  // A search that reaches few ends would find little.
  for (const end of ['finished 1', 'failed 1', 'failed 2', 'finished 2', 'cancelled 1']) expect(ends).toContain(end);
});
