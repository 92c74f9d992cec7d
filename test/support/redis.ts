// cspell:ignore setpriv pdeathsig appenddirname
import { EventEmitter, once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { expect, onTestFinished, vi } from 'vitest';
import { redisUrl } from '../../src/gateway/config/redis-url.ts';
import { createRedisStore } from '../../src/gateway/stores/redis-store.ts';
import { runCommand } from './command.ts';
import { tFolder } from './gateway/stores/folder.ts';
import { onFreePort, tFreePort } from './loopback.ts';
import { findProgram, type OnFinished, type TProcess, tProcess, whyMissing } from './process.ts';
import { type Gate, tGate } from './turns.ts';

interface TcpProxy {
  port: number;
  /** Closes all connections, and refuses new ones. */
  stop(): Promise<void>;
  /** Listens on the same port again. */
  restart(): Promise<void>;
  /** Accepts connections, and forwards nothing until `thaw`. */
  freeze(): void;
  thaw(): void;
  /** What the server sends from now on arrives that much later. */
  setDelay(delayMs: number): void;
}

/** Forwards TCP connections to a port of the loopback interface: for its clients, that server is slow, silent or down when a test says so. */
async function tTcpProxy(targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let frozen: Gate | null = null;
  let delayMs = 0;

  const server = createServer({ noDelay: true }, (client) => {
    const target = connect({ port: targetPort, host: '127.0.0.1', noDelay: true });
    forward(client, target, () => 0);
    forward(target, client, () => delayMs);
  });

  function forward(from: Socket, to: Socket, delay: () => number): void {
    sockets.add(from);
    let sending = Promise.resolve();
    const afterwards = (send: () => void) => {
      const delayed = delay() > 0 ? pause(delay()) : null;
      sending = sending
        .then(() => delayed)
        .then(() => frozen?.opened)
        .then(send);
    };
    from.on('data', (chunk) => afterwards(() => void to.write(chunk)));
    from.on('error', () => {});
    from.on('close', () => {
      sockets.delete(from);
      afterwards(() => void to.end());
    });
  }

  async function listen(port: number): Promise<void> {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  }

  function thaw(): void {
    frozen?.open();
    frozen = null;
  }

  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async stop() {
      // What was not forwarded is lost.
      frozen = null;
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    restart: () => listen(port),
    freeze() {
      frozen ??= tGate();
    },
    thaw,
    setDelay(ms) {
      delayMs = ms;
    },
  };
}

/** For titles of tests that need the redis-server binary: why they are skipped; empty if it is installed. */
export const whyNoRedis = whyMissing('redis-server');

export interface TRedis {
  url: string;
  port: number;
  /** Ends it for its clients; its data is lost unless it is durable. */
  stop(): Promise<void>;
  /** Ends it and starts it again on the same port, empty unless it is durable. */
  restart(changed?: { password?: string }): Promise<void>;
  /** It accepts connections but no longer responds. */
  freeze(): void;
  thaw(): void;
}

interface RedisOptions {
  password?: string;
  /** Whether it keeps its data when it is stopped, as in production. */
  isDurable?: boolean;
  /** When it ends: by default, when the test ends. */
  onFinished?: OnFinished;
}

/** Servers without data that no test uses. They end with the worker. */
const idle: RunningServer[] = [];

interface RunningServer {
  server: TProcess;
  port: number;
}

/**
 * An empty Redis on a port of its own, for one test. Its process is that of earlier tests: clients reach it through a proxy, which
 * stops in its place, because the start of a process takes longer than most tests.
 */
export async function tRedis({
  password = '',
  isDurable = false,
  onFinished = onTestFinished,
}: RedisOptions = {}): Promise<TRedis & { setDelay(delayMs: number): void }> {
  const running = idle.pop() ?? (await startIdle(onFinished));
  const proxy = await tTcpProxy(running.port);
  let current = '';
  const administrate = (use: (client: Redis) => Promise<unknown>) => {
    const client = new Redis(running.port, '127.0.0.1', { password: current });
    return use(client).finally(() => client.disconnect());
  };
  const setPassword = async (next: string) => {
    await administrate((client) => client.config('SET', 'requirepass', next));
    current = next;
  };
  const empty = () =>
    administrate(async (client) => {
      await client.flushall();
      await client.script('FLUSH');
    });
  const stop = async () => {
    await proxy.stop();
    // They may have sent commands that the server has not read yet.
    await administrate((client) => client.client('KILL', 'TYPE', 'NORMAL'));
    if (!isDurable) await empty();
  };
  await setPassword(password);
  if (isDurable) await administrate((client) => client.config('SET', 'appendonly', 'yes'));
  onFinished(async () => {
    await stop();
    await empty();
    await setPassword('');
    await administrate((client) => client.config('SET', 'appendonly', 'no'));
    await administrate((client) => client.config('RESETSTAT'));
    if (canEndWithParent) idle.push(running);
  });
  return {
    ...proxy,
    url: toUrl('redis', { password }, [proxy]),
    stop,
    async restart(changed = {}) {
      await stop();
      await setPassword(changed.password ?? password);
      await proxy.restart();
    },
  };
}

/** Linux ends the process with the one that has started it. Elsewhere, it ends with its test. */
const endWithParent = ['setpriv', '--pdeathsig', 'KILL'];
const canEndWithParent = findProgram('setpriv') !== null;

function startIdle(onFinished: OnFinished): Promise<RunningServer> {
  const data = ['--dir', tmpdir(), '--save', '', '--appendonly', 'no'];
  const [command = '', ...args] = [...(canEndWithParent ? endWithParent : []), 'redis-server', ...data];
  const start = (port: number) => [...args, ...at(port), '--appenddirname', `ledgerquill-test-${port}`];
  return onFreePort((port) => startServer(command, start(port), canEndWithParent ? () => {} : onFinished));
}

const at = (port: number) => ['--bind', '127.0.0.1', '--port', String(port)];

async function startServer(command: string, args: readonly string[], onFinished: OnFinished): Promise<TProcess> {
  const server = tProcess(command, args, { DATA_DIR: tmpdir() }, onFinished);
  await server.printed(/Ready to accept connections|Sentinel ID is/);
  return server;
}

/** A process of its own with these arguments, which is killed when it stops. */
export async function tRedisProcess(
  args: readonly string[] = [],
  { password = '', isDurable = false, onFinished = onTestFinished }: RedisOptions = {},
): Promise<TRedis> {
  const auth = password === '' ? [] : ['--requirepass', password, '--masterauth', password];
  const data = ['--dir', tFolder(onFinished), '--save', '', '--appendonly', isDurable ? 'yes' : 'no'];
  const start = (port: number) => startServer('redis-server', [...args, ...at(port), ...data, ...auth], onFinished);
  const first = await onFreePort(start);
  let { server } = first;
  const stop = async () => {
    server.kill('SIGKILL');
    await server.ended;
  };
  return {
    url: toUrl('redis', { password }, [first]),
    port: first.port,
    stop,
    async restart() {
      await stop();
      server = await start(first.port);
    },
    freeze: () => server.kill('SIGSTOP'),
    thaw: () => server.kill('SIGCONT'),
  };
}

/**
 * A cluster of masters without replicas, in which a busy node does not count as failed. Its start takes 2 s, in which a new
 * master rejects commands.
 */
export async function tRedisCluster(options: RedisOptions = {}, slotRanges = threeRanges) {
  const nodes = await Promise.all(slotRanges.map((slots) => startMaster(options, slots)));
  const [first, ...others] = nodes as [TMaster, ...TMaster[]];
  const meet = (client: Redis) => client.call('cluster', 'meet', '127.0.0.1', first.port, first.busPort);
  for (const other of others) await withClient(other, meet);
  for (const node of nodes)
    await untilResponse(
      node,
      ['cluster', 'info'],
      new RegExp(`cluster_state:ok.*cluster_known_nodes:${nodes.length}`, 's'),
    );
  return { url: toUrl('redis-cluster', options, nodes), nodes };
}

const threeRanges = ['0 5460', '5461 10922', '10923 16383'];

type TMaster = Awaited<ReturnType<typeof startMaster>>;

async function startMaster(options: RedisOptions, slots: string) {
  const busPort = await tFreePort();
  const cluster = ['--cluster-enabled', 'yes', '--cluster-port', String(busPort), '--cluster-node-timeout', '60000'];
  const node = await tRedisProcess(cluster, options);
  await withClient(node, (client) => client.call('cluster', 'addslotsrange', ...slots.split(' ')));
  return { ...node, busPort };
}

/** A master, its replica, and a Sentinel. It replaces the master only when `failOver` stops it, however busy the machine is. */
export async function tRedisSentinel(options: RedisOptions = {}) {
  const master = await tRedisProcess([], options);
  const replica = await tRedisProcess(['--replicaof', '127.0.0.1', String(master.port)], options);
  await untilResponse(master, ['info', 'replication'], /state=online/);
  const config = join(tFolder(options.onFinished), 'sentinel.conf');
  const lines = [
    `monitor main 127.0.0.1 ${master.port} 1`,
    'down-after-milliseconds main 60000',
    ...(options.password ? [`auth-pass main ${options.password}`] : []),
  ];
  writeFileSync(config, lines.map((line) => `sentinel ${line}\n`).join(''));
  const sentinel = await tRedisProcess([config, '--sentinel'], options);
  await untilResponse(sentinel, ['sentinel', 'replicas', 'main'], /127\.0\.0\.1/);
  const failOver = async () => {
    await withClient(sentinel, (client) => client.call('sentinel', 'set', 'main', 'down-after-milliseconds', '1000'));
    await master.stop();
  };
  return { url: `${toUrl('redis-sentinel', options, [sentinel])}#main`, master, replica, failOver };
}

/** Repeats a command until its response matches. */
export async function untilResponse(
  redis: TRedis,
  [command, ...args]: [string, ...string[]],
  expected: RegExp,
): Promise<void> {
  const check = async (client: Redis) => expect(String(await client.call(command, ...args))).toMatch(expected);
  await withClient(redis, (client) => vi.waitFor(() => check(client), { interval: 20, timeout: 100_000 }));
}

export async function withClient(redis: Pick<TRedis, 'url'>, use: (client: Redis) => Promise<unknown>): Promise<void> {
  const client = new Redis(redis.url);
  await use(client).finally(() => client.disconnect());
}

function toUrl(scheme: string, { password = '' }: RedisOptions, servers: readonly Pick<TRedis, 'port'>[]): string {
  const hosts = servers.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return `${scheme}://${password === '' ? '' : `:${password}@`}${hosts}`;
}

/** A store on that Redis, closed when the test ends. */
export function tRedisStore(url: string, { commandTimeoutMs = 200_000 } = {}) {
  const events: string[] = [];
  const emitter = new EventEmitter();
  const record = (event: string) => {
    events.push(event);
    emitter.emit('event');
  };
  const store = createRedisStore({
    server: redisUrl.parse(url),
    commandTimeoutMs,
    events: { storeDown: (reason) => record(`down: ${reason}`), storeUp: () => record('up') },
  });
  onTestFinished(() => store.close());
  return {
    store,
    /** The connection events so far. */
    events,
    /** Waits for as many events, and expects them to match. */
    async expectEvents(expected: (string | RegExp)[]) {
      while (events.length < expected.length) await once(emitter, 'event');
      expect(events).toEqual(
        expected.map((event) => (typeof event === 'string' ? event : expect.stringMatching(event))),
      );
    },
  };
}

/** A client that bypasses the store. */
export function tRawClient({ url }: Pick<TRedis, 'url'>): Redis {
  // Commands fail, too, and ioredis prints errors without a listener.
  const client = new Redis(url).on('error', () => {});
  onTestFinished(() => client.disconnect());
  return client;
}

/** `ledgerquill check-config` sends PING, describes the Redis so, and writes neither to the store nor the password to its output. */
export async function expectPing({ url }: { url: string }, description: string, password: string): Promise<void> {
  const env = { REDIS_URL: url, STORE_SECRET: `${password}-of-the-store`, DATA_DIR: tFolder() };
  const { code, stdout, stderr } = await runCommand(['check-config'], env);
  expect(stdout).toContain(`REDIS_URL: ${description} responded to INFO`);
  expect(stdout).toContain('DATA_DIR: not written to, because REDIS_URL is set');
  expect(stdout).toMatch(/^ {2}REDIS_URL +.*:\/\/\*{8}@127\.0\.0\.1:/m);
  expect(stdout + stderr).not.toContain(password);
  expect(code).toBe(0);
}

/** Shortens all expiries, as if time had passed. */
export async function passTime(client: Redis, ms: number): Promise<void> {
  for (const key of await client.keys('*')) {
    const left = await client.pttl(key);
    await client.pexpireat(key, left > ms ? Date.now() + left - ms : 1);
  }
}
