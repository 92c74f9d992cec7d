import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AuditCallers, auditedPrices, checkAudit, startAuditedLookUps } from './audited-calls.ts';
import { startCountingEssayService } from './counting-essay-service.ts';
import { buildGateway, type GatewayProcess, startGateway } from './gateway-process.ts';
import { createChecks, describeMachine, formatTable, print, readNumberOption } from './report.ts';

/*
 * Kills gateways at random moments while orders are started, sent, written, awaited and cancelled: one gateway with the embedded
 * store, then two with one Redis, in turns. At the end, each order must have one state that it keeps, none may have been
 * sent twice, and no essay that was delivered may be lost without a word about its payment.
 * The audit trail must agree with what the services have received.
 *   npx tsx bench/kill-orders.ts [--kills 30] [--orders 10] [--look-ups 0] [--essay-ms 4000] [--built] [--store lmdb|redis] [--stop]
 * `--orders` and `--look-ups` are started for each kill. `--built` uses the last build. Redis needs redis-server, and is skipped without it.
 * With `--stop`, gateways are stopped in order. With `--restart-redis`, Redis, which writes to disk, is killed with one gateway in five, and
 * is down for a second.
 */

const kills = readNumberOption('kills', 30);
const ordersPerKill = readNumberOption('orders', 10);
const lookUpsPerKill = readNumberOption('look-ups', 0);
const essayMs = readNumberOption('essay-ms', 4_000);
const onlyStore = process.argv.includes('--store') ? process.argv[process.argv.indexOf('--store') + 1] : undefined;
/** Whether gateways are stopped with SIGTERM instead. Then no order may fail. */
const isStopped = process.argv.includes('--stop');
/** Whether Redis is restarted with one kill in five. */
const isRedisRestarted = process.argv.includes('--restart-redis');
const checks = createChecks();

interface Order {
  caller: string;
  key: string;
  description: string;
  /** What the client was answered; null if it was not answered. */
  cancellation: Cancellation | null;
  /** The first end that a client saw. */
  firstEnd: string | null;
}

interface Cancellation {
  isCancelled: boolean;
  mayHaveBeenPaid: boolean;
}

interface State {
  __typename: string;
  essay?: { text: string } | null;
  failure?: { message: string };
  mayHaveBeenPaid?: boolean;
}

/** Their orders and look-ups are counted apart. */
const callers: AuditCallers = { shop: randomUUID(), desk: randomUUID() };

const startMutation = 'mutation ($input: StartEssayInput!) { startEssay(input: $input) { ... on EssayOrder { id } } }';
const cancelMutation = `mutation ($id: ID!) {
  cancelEssayOrder(id: $id) {
    __typename ... on EssayCancellation { mayHaveBeenPaid } ... on EssayOrderNotCancellable { mayHaveBeenPaid }
  }
}`;
const listQuery = `query ($after: String) {
  essayOrders(first: 100, after: $after) {
    nodes { input { description } state { __typename } }
    pageInfo { hasNextPage endCursor }
  }
}`;
const generateMutation = `mutation ($input: GenerateEssayInput!) {
  generateEssay(input: $input) { __typename ... on Essay { text } ... on UserError { message } }
}`;
const findQuery = `query ($key: ID!) {
  essayOrder(idempotencyKey: $key) {
    state {
      __typename
      ... on EssayFinished { essay { text } }
      ... on EssayFailed { failure { ... on UserError { message } } }
      ... on EssayCancelled { mayHaveBeenPaid }
    }
  }
}`;

if (!process.argv.includes('--built')) buildGateway();
print(describeMachine());
const rows: (string | number)[][] = [];
const auditColumns = ['store', 'caller', 'day', 'received', 'calls', 'charged', 'unknown', 'of these open', 'not sent'];
const auditRows: (string | number)[][] = [];
if (onlyStore !== 'redis') await run('LMDB', 1, null);
if (onlyStore !== 'lmdb') {
  const redis = await startRedis();
  if (redis === null) print('Redis was skipped, because redis-server is not installed.');
  else await run('Redis', 2, redis);
  redis?.stop();
}
const columns = [
  'store',
  'kills',
  'orders',
  'finished',
  'failed',
  'cancelled',
  'sent',
  'sent twice',
  'delivered',
  'lost',
];
print(formatTable(columns, rows));
print(formatTable(auditColumns, auditRows));
checks.print();

async function run(store: string, replicas: number, redis: RunningRedis | null): Promise<void> {
  const service = await startCountingEssayService(essayMs);
  const lookUps = await startAuditedLookUps(callers);
  const folder = mkdtempSync(join(tmpdir(), 'ledgerquill-kill-'));
  const env = {
    GATEWAY_API_KEYS: lookUps.apiKeys,
    ...auditedPrices,
    BANK_DATA_URL: lookUps.url,
    BANK_DATA_API_KEY: 'bench-bank-data',
    ESSAY_URL: service.url,
    ESSAY_API_KEY: 'bench-essays',
    ESSAY_ORDERS_RUNNING: String(Math.ceil(ordersPerKill / 2)),
    ESSAY_ORDERS_PER_CALLER: '10000',
    STORE_SECRET: 'a-secret-that-all-share',
    ...(redis !== null && { REDIS_URL: redis.url }),
  };
  const start = (index: number) => startGateway({ ...env, DATA_DIR: join(folder, String(index)) }, { isBuilt: true });
  const gateways = await Promise.all(Array.from({ length: replicas }, (_, index) => start(index)));
  const anyGateway = () => gateways[Math.floor(Math.random() * gateways.length)] as GatewayProcess;
  const orders: Order[] = [];
  const clients: Promise<void>[] = [];

  for (let kill = 0; kill < kills; kill += 1) {
    for (let number = 0; number < ordersPerKill; number += 1) {
      const description = `${store} ${kill + 1}-${number + 1}`;
      const caller = number % 2 === 0 ? 'shop' : 'desk';
      const order = { caller, key: `key of ${description}`, description, cancellation: null, firstEnd: null };
      orders.push(order);
      clients.push(useOrder(order, anyGateway));
    }
    clients.push(lookUps.send(lookUpsPerKill, anyGateway));
    await sleep(Math.random() * essayMs);
    print(`${store}: kill ${kill + 1} of ${kills}`);
    const index = kill % replicas;
    if (isRedisRestarted && kill % 5 === 1) await redis?.restart();
    if (!isStopped) lookUps.noteKill();
    if (!isStopped) await gateways[index]?.kill();
    else if ((await gateways[index]?.close()) !== 0) checks.fail('a gateway that was stopped did not exit with 0');
    gateways[index] = await start(index);
    await noteEnds(orders, anyGateway);
  }

  print(`${store}: waiting for the clients`);
  await Promise.all(clients);
  print(`${store}: waiting for the ends`);
  const endsAt = performance.now() + 120_000;
  while (!(await noteEnds(orders, anyGateway)) && performance.now() < endsAt) await sleep(500);
  await check(store, orders, anyGateway(), service);
  const receivedOrders = orders.map(({ caller, description }) => ({ caller, times: service.received(description) }));
  for (const gateway of gateways) {
    const errors = isRedisRestarted ? [] : gateway.log.filter(({ level }) => level >= 50);
    for (const { msg } of errors) checks.fail(`logged: ${msg}`);
    await gateway.kill();
  }
  service.close();
  lookUps.close();
  const received = lookUps.received();
  for (const { caller, times } of receivedOrders) received.set(caller, (received.get(caller) ?? 0) + times);
  const folders = gateways.map((_, index) => join(folder, String(index)));
  for (const row of await checkAudit(folders, received, lookUps.mostMissing(), checks)) auditRows.push([store, ...row]);
  rmSync(folder, { recursive: true });
}

/**
 * A client: repeats what was not answered, as it may with an idempotency key. Waits for one order in four (`generateEssay`), and
 * cancels one in five of the others.
 */
async function useOrder(order: Order, anyGateway: () => GatewayProcess): Promise<void> {
  await sleep((Math.random() * essayMs) / 4);
  const { caller, key, description } = order;
  const input = { description, wordCount: 100, idempotencyKey: key };
  if (Math.random() < 0.25) return awaitEssay(order, input, anyGateway);
  const id = await untilAnswered(async () => {
    const { startEssay } = await ask<{ startEssay: { id?: string } }>(anyGateway(), caller, startMutation, { input });
    return startEssay.id;
  });
  if (Math.random() > 0.2) return;
  await sleep((Math.random() * essayMs) / 2);
  order.cancellation = await untilAnswered(async () => {
    const { cancelEssayOrder: result } = await ask<{
      cancelEssayOrder: { __typename: string; mayHaveBeenPaid?: boolean };
    }>(anyGateway(), caller, cancelMutation, { id });
    if (result.mayHaveBeenPaid === undefined) checks.fail(`${description} is unknown when it is cancelled`);
    return { isCancelled: result.__typename === 'EssayCancellation', mayHaveBeenPaid: result.mayHaveBeenPaid ?? true };
  });
}

async function awaitEssay(order: Order, input: object, anyGateway: () => GatewayProcess): Promise<void> {
  const { caller, description } = order;
  const result = await untilAnswered(async () => {
    const answer = await ask<{ generateEssay: Generated }>(anyGateway(), caller, generateMutation, { input });
    const { __typename: type, message = '' } = answer.generateEssay;
    return type === 'Essay' || /may have been paid for/.test(message) ? answer.generateEssay : undefined;
  });
  if (isStopped && result.__typename !== 'Essay') checks.fail(`${description} failed: ${result.message}`);
}

interface Generated {
  __typename: string;
  message?: string;
}

async function untilAnswered<Answer>(send: () => Promise<Answer | undefined>): Promise<Answer> {
  const givesUpAt = performance.now() + 120_000;
  for (;;) {
    const answer = await send().catch((error: Error) => {
      if (performance.now() > givesUpAt) throw error;
    });
    if (answer !== undefined) return answer;
    await sleep(100);
  }
}

/** Compares the ends of orders with those that were seen before. @returns whether all orders have ended */
async function noteEnds(orders: readonly Order[], anyGateway: () => GatewayProcess): Promise<boolean> {
  const states = await untilAnswered(() => readStates(anyGateway()));
  let unended = 0;
  for (const order of orders) {
    const state = states.get(order.description);
    const end = state === undefined || !isEnd(state) ? null : state.__typename;
    if (end === null) unended += 1;
    if (order.firstEnd !== null && end !== order.firstEnd) {
      checks.fail(`${order.description} was ${order.firstEnd}, and then ${state?.__typename ?? 'unknown'}`);
    }
    order.firstEnd = end;
  }
  return unended === 0;
}

async function readStates(gateway: GatewayProcess): Promise<Map<string, State>> {
  const states = new Map<string, State>();
  for (const caller of Object.keys(callers)) {
    for (let after: string | null = null; ; ) {
      const { essayOrders }: { essayOrders: Page } = await ask(gateway, caller, listQuery, { after });
      for (const { input, state } of essayOrders.nodes) {
        if (states.has(input.description)) checks.fail(`${input.description} is listed twice`);
        states.set(input.description, state);
      }
      if (!essayOrders.pageInfo.hasNextPage) break;
      after = essayOrders.pageInfo.endCursor;
    }
  }
  return states;
}

interface Page {
  nodes: { input: { description: string }; state: State }[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

async function check(
  store: string,
  orders: readonly Order[],
  gateway: GatewayProcess,
  service: Awaited<ReturnType<typeof startCountingEssayService>>,
): Promise<void> {
  const ends = { EssayFinished: 0, EssayFailed: 0, EssayCancelled: 0 };
  let [sent, twice, delivered, lost] = [0, 0, 0, 0];
  for (const { caller, key, description, cancellation } of orders) {
    const { essayOrder } = await ask<{ essayOrder: { state: State } | null }>(gateway, caller, findQuery, { key });
    const state = essayOrder?.state;
    const received = service.received(description);
    const essay = service.delivered(description);
    const failure = state?.failure?.message ?? '';
    if (state === undefined || !isEnd(state)) {
      checks.fail(`${description} has not ended: ${state?.__typename ?? 'unknown'}`);
      continue;
    }
    ends[state.__typename as keyof typeof ends] += 1;
    sent += received > 0 ? 1 : 0;
    twice += received > 1 ? 1 : 0;
    delivered += essay === undefined ? 0 : 1;
    if (received > 1) checks.fail(`${description} was sent ${received} times`);
    const text = state.essay?.text ?? '';
    if (
      state.__typename === 'EssayFinished' &&
      (essay === undefined || !essay.startsWith(text.slice(0, 100)) || text === '')
    )
      checks.fail(`${description} has a wrong text: ${text.slice(0, 100)}`);
    if (state.__typename === 'EssayFailed' && (isStopped || !/may have been paid for/.test(failure))) {
      checks.fail(`${description} failed: ${failure}`);
    }
    const isLost = essay !== undefined && state.__typename === 'EssayCancelled';
    lost += isLost ? 1 : 0;
    if (isLost) checks.fail(`${description} was delivered, and is ${state.__typename}`);
    if (state.__typename === 'EssayCancelled' && received > 0 && state.mayHaveBeenPaid === false) {
      checks.fail(`${description} was sent, and says that it costs nothing`);
    }
    if (cancellation?.isCancelled && state.__typename !== 'EssayCancelled') {
      checks.fail(`${description} was cancelled, and is ${state.__typename}`);
    }
  }
  const { EssayFinished, EssayFailed, EssayCancelled } = ends;
  const counts = [EssayFinished, EssayFailed, EssayCancelled, sent, twice, delivered, lost];
  rows.push([store, kills, orders.length, ...counts]);
}

function isEnd({ __typename: type }: State): boolean {
  return type === 'EssayFinished' || type === 'EssayFailed' || type === 'EssayCancelled';
}

/** Rejects when the answer has errors, or none comes. */
async function ask<Data>({ url }: GatewayProcess, caller: string, query: string, variables: object): Promise<Data> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': callers[caller] ?? '' },
    body: JSON.stringify({ query, variables }),
    signal: AbortSignal.timeout(10_000),
  });
  const { data, errors } = (await response.json()) as { data: Data; errors?: unknown };
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  return data;
}

interface RunningRedis {
  url: string;
  /** Kills it and starts it again with the data that it has written to disk. */
  restart(): Promise<void>;
  stop(): void;
}

/** Null if it is not installed. */
async function startRedis(): Promise<RunningRedis | null> {
  const port = await findFreePort();
  const folder = mkdtempSync(join(tmpdir(), 'ledgerquill-kill-redis-'));
  const disk = ['--dir', folder, '--save', '', '--appendonly', 'yes', '--appendfsync', 'always'];
  const start = () =>
    spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', ...disk], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  const isReady = async (child: ReturnType<typeof start>) => {
    for await (const text of child.stdout) if (String(text).includes('Ready to accept')) return true;
    return false;
  };
  const failed = (child: ReturnType<typeof start>) => once(child, 'error').then(() => false);
  let child = start();
  if (!(await Promise.race([isReady(child), failed(child)]))) return null;
  const stop = () => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', stop);
  const restart = async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
    await sleep(1_000);
    child = start();
    await isReady(child);
    child.stdout.resume();
  };
  child.stdout.resume();
  return { url: `redis://127.0.0.1:${port}`, restart, stop };
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
