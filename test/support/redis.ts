// cspell:ignore setpriv pdeathsig
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, onTestFinished, vi } from 'vitest';
import { onFreePort, tFreePort } from './free-port.ts';
import { tFolder } from './gateway/stores/folder.ts';
import { findProgram, whyMissing } from './installed.ts';
import { type OnFinished, type TProcess, tProcess } from './process.ts';

/** For titles of tests that need the redis-server binary: why they are skipped; empty if it is installed. */
export const whyNoRedis = whyMissing('redis-server');

export interface TRedis {
  url: string;
  port: number;
  /** Kills it; its data is lost unless it is durable. */
  stop(): Promise<void>;
  /** Kills it and starts it again on the same port, empty unless it is durable, and with these arguments in addition. */
  restart(...moreArgs: string[]): Promise<void>;
  /** It accepts connections but no longer responds. */
  freeze(): void;
  thaw(): void;
}

interface RedisOptions {
  password?: string;
  /** Whether it writes its data to disk, as in production. */
  isDurable?: boolean;
  /** More arguments of redis-server. */
  args?: readonly string[];
  /** When it is killed: by default, when the test ends. */
  onFinished?: OnFinished;
}

/** Servers that earlier tests have left as they were, but without data. They end with the worker. */
const idle: RunningServer[] = [];

interface RunningServer {
  server: TProcess;
  port: number;
}

/** A running Redis server on a free port of the loopback interface; it belongs to the test until the test ends. */
export async function tRedis({
  password = '',
  isDurable = false,
  args = [],
  onFinished = onTestFinished,
}: RedisOptions = {}): Promise<TRedis> {
  const isOrdinary = password === '' && !isDurable && args.length === 0 && canEndWithParent;
  const auth = password === '' ? [] : ['--requirepass', password, '--masterauth', password];
  const folder = isOrdinary ? tmpdir() : tFolder(onFinished);
  const data = ['--dir', folder, '--save', '', '--appendonly', isDurable ? 'yes' : 'no'];
  const [command = '', ...before] = [...(isOrdinary ? endWithParent : []), 'redis-server'];

  async function start(port: number, ...moreArgs: string[]): Promise<TProcess> {
    const all = [...before, ...args, '--bind', '127.0.0.1', '--port', String(port), ...data, ...auth, ...moreArgs];
    const server = tProcess(command, all, { DATA_DIR: folder }, isOrdinary ? () => {} : onFinished);
    await server.printed(/Ready to accept connections|Sentinel ID is/);
    return server;
  }

  async function kill(): Promise<void> {
    isAsBefore = false;
    server.kill('SIGKILL');
    await server.ended;
  }

  let isAsBefore = isOrdinary;
  const { server: first, port } = (isOrdinary ? idle.pop() : undefined) ?? (await onFreePort(start));
  let server = first;
  const url = toUrl('redis', { password }, [{ port }]);
  onFinished(async () => {
    if (!isAsBefore) return kill();
    await withClient({ url }, async (client) => {
      await client.flushall();
      await client.config('RESETSTAT');
    });
    idle.push({ server, port });
  });
  return {
    url,
    port,
    stop: kill,
    async restart(...moreArgs) {
      await kill();
      server = await start(port, ...moreArgs);
    },
    freeze() {
      isAsBefore = false;
      server.kill('SIGSTOP');
    },
    thaw: () => server.kill('SIGCONT'),
  };
}

/** Linux ends the process with the one that has started it. */
const endWithParent = ['setpriv', '--pdeathsig', 'KILL'];
const canEndWithParent = findProgram('setpriv') !== null;

/**
 * A cluster of three masters without replicas, in which a busy node does not count as failed. Its start takes 2 s, in which a new
 * master rejects commands.
 */
export async function tRedisCluster(options: RedisOptions = {}) {
  const nodes = await Promise.all(slotRanges.map((slots) => startMaster(options, slots)));
  const [first, ...others] = nodes as [TMaster, ...TMaster[]];
  const meet = (client: Redis) => client.call('cluster', 'meet', '127.0.0.1', first.port, first.busPort);
  for (const other of others) await withClient(other, meet);
  for (const node of nodes) await untilResponse(node, ['cluster', 'info'], /cluster_state:ok.*cluster_known_nodes:3/s);
  return { url: toUrl('redis-cluster', options, nodes), nodes };
}

const slotRanges = ['0 5460', '5461 10922', '10923 16383'];

type TMaster = Awaited<ReturnType<typeof startMaster>>;

async function startMaster(options: RedisOptions, slots: string) {
  const busPort = await tFreePort();
  const cluster = ['--cluster-enabled', 'yes', '--cluster-port', String(busPort), '--cluster-node-timeout', '60000'];
  const node = await tRedis({ ...options, args: cluster });
  await withClient(node, (client) => client.call('cluster', 'addslotsrange', ...slots.split(' ')));
  return { ...node, busPort };
}

/** A master, its replica, and a Sentinel. It replaces the master only when `failOver` stops it, however busy the machine is. */
export async function tRedisSentinel(options: RedisOptions = {}) {
  const master = await tRedis(options);
  const replica = await tRedis({ ...options, args: ['--replicaof', '127.0.0.1', String(master.port)] });
  await untilResponse(master, ['info', 'replication'], /state=online/);
  const config = join(tFolder(options.onFinished), 'sentinel.conf');
  const lines = [
    `monitor main 127.0.0.1 ${master.port} 1`,
    'down-after-milliseconds main 60000',
    ...(options.password ? [`auth-pass main ${options.password}`] : []),
  ];
  writeFileSync(config, lines.map((line) => `sentinel ${line}\n`).join(''));
  const sentinel = await tRedis({ ...options, args: [config, '--sentinel'] });
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
