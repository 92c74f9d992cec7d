import { parseArgs } from 'node:util';
import { hasWrk } from './comparison/load.ts';
import { measureServer } from './comparison/measure-server.ts';
import { canPin } from './comparison/pin.ts';
import { formatResults, type Result } from './comparison/results.ts';
import { arePeersInstalled, listServers, serverNames } from './comparison/servers.ts';
import { startCountingUpstream } from './comparison/upstream.ts';
import { workloads } from './comparison/workloads.ts';
import { describeMachine, print } from './report.ts';

/*
 * Compares the gateway with the limit of Node.js and with other GraphQL servers, see docs/performance.md.
 *   npm ci --prefix bench/peers && npm run bench -- --help
 */

/** W1 and W2 beside the limit, in less than a minute. */
const quick = { rounds: '3', seconds: '1.5', only: 'limit,gateway', work: 'W1,W2' };

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    only: { type: 'string', default: serverNames.join(',') },
    work: { type: 'string', default: Object.keys(workloads).join(',') },
    callers: { type: 'string', default: '50' },
    delay: { type: 'string', default: '0' },
    env: { type: 'string', multiple: true, default: [] },
  },
});

const options = values.quick ? { ...values, ...quick } : values;

const usage = `npm run bench -- [options]
  --quick            W1 and W2 of the gateway and the limit, in less than a minute
  --rounds 3         each round starts every server once, in random order
  --seconds 3        duration of each load, after a warm-up of the same duration
  --only NAME,NAME   servers: ${serverNames.join(', ')}
  --work NAME,NAME   workloads:
${Object.entries(workloads)
  .map(([name, { title }]) => `                       ${name.padEnd(6)} ${title}`)
  .join('\n')}
  --callers 50       connections, each with one request at a time
  --delay 0          latency of the upstream, in milliseconds
  --env NAME=value   environment variable of the gateway; repeatable`;

// The exit kills the servers that this process has started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
if (options.help) print(usage);
else await compare();

async function compare(): Promise<void> {
  const load = {
    seconds: readNumber('seconds', options.seconds),
    callers: readNumber('callers', options.callers),
    delayMs: readNumber('delay', options.delay),
  };
  const rounds = readNumber('rounds', options.rounds);
  const chosenServers = readNames('only', options.only, serverNames);
  const chosenWorkloads = readNames('work', options.work, Object.keys(workloads));
  const gatewayEnv = Object.fromEntries(options.env.map((pair) => pair.split(/=(.*)/s).slice(0, 2)));
  print(describeMachine());
  print(`Load: ${hasWrk ? 'wrk' : 'Node.js'}, ${load.callers} callers. Upstream: ${load.delayMs} ms. \
The server ${canPin ? 'has a core of its own' : 'shares all cores'}.`);
  if (!arePeersInstalled) print('Peers are skipped. To install them: npm ci --prefix bench/peers');

  const upstream = await startCountingUpstream(load.delayMs);
  const servers = listServers({ upstreamUrl: upstream.url, gatewayEnv });
  const results: Result[] = [];
  try {
    for (let round = 1; round <= rounds; round += 1) {
      for (const name of shuffle(chosenServers)) {
        const server = servers[name];
        if (server === undefined) continue;
        const { workloads: supported = chosenWorkloads } = server;
        const names = chosenWorkloads.filter((each) => supported.includes(each));
        for await (const measured of measureServer({ server, workloads: names, upstream, load })) {
          results.push({ round, server: name, ...measured });
          const rate = measured.requestsPerSecond.toFixed(0);
          process.stderr.write(`round ${round} of ${rounds}: ${name} ${measured.workload} ${rate}/s\n`);
        }
      }
    }
  } finally {
    await upstream.close();
    const order = ({ workload, server }: Result) =>
      chosenWorkloads.indexOf(workload) * chosenServers.length + chosenServers.indexOf(server);
    // After an error, what was measured before.
    print(`\n${formatResults(results.sort((a, b) => order(a) - order(b)))}`);
  }
}

function readNumber(name: string, text: string): number {
  const value = Number(text);
  if (!(value >= 0)) throw new Error(`--${name} must be a number of 0 or more`);
  return value;
}

function readNames(option: string, text: string, known: readonly string[]): string[] {
  const names = text.split(',');
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`--${option}: ${unknown} is not one of ${known.join(', ')}`);
  return names;
}

function shuffle<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, position: Math.random() }))
    .sort((a, b) => a.position - b.position)
    .map(({ item }) => item);
}
