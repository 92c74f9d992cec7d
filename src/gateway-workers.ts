import { EventEmitter } from 'node:events';
import { isatty } from 'node:tty';
import type { TakeBlock } from './auth/rate-limit.ts';
import { createBankLists } from './bank-lists/bank-lists.ts';
import { createKnownBanks } from './bank-lists/known-banks.ts';
import type { BankListStatus } from './bank-lists/listed-bank.ts';
import { type Config, listSecrets, type UpstreamAccess, type Upstreams } from './config/read-config.ts';
import type { MetricsServer } from './http/metrics-server.ts';
import { stopOnSignal } from './process/stop-signals.ts';
import { connectToPrimary, createWorkers, leavePrimary, type PrimaryFunctions } from './process/workers.ts';
import { createLog, type Log, logConsole } from './telemetry/log.ts';
import { createLogEvents } from './telemetry/log-events.ts';
import type { Samples } from './telemetry/metrics/exposition.ts';
import { createRedact } from './telemetry/redact.ts';

interface GatewayPrimaryFunctions extends PrimaryFunctions {
  takeBlock: TakeBlock;
  /** A worker that ends passes on what it has counted. */
  keepCounts(samples: Samples): void;
}

export interface StartOptions {
  config: Config;
  upstreams: Upstreams;
  log: Log;
  /** Closes the self-hosted services, after the gateway. */
  close: () => Promise<unknown>;
}

export interface Listening {
  url: string;
  /** Null if metrics are off. */
  metricsUrl: string | null;
  bankLists: readonly BankListStatus[];
}

/**
 * Runs the gateway in several workers, and does for all of them what only one process can do: it reads signals, serves the
 * metrics, and counts the requests of callers where Redis does not.
 * @returns null if a worker did not start, and has printed why
 */
export async function startGatewayWorkers(options: StartOptions): Promise<Listening | null> {
  const { config, upstreams, log, close } = options;
  const { createMemoryBlocks } = await import('./auth/rate-limit.ts');
  const { createWorkerMetrics } = await import('./telemetry/metrics/worker-metrics.ts');
  const metrics = createWorkerMetrics();
  const takeBlock = createMemoryBlocks();
  const workers = createWorkers<Samples>({
    count: config.workers,
    maxStopMs: Math.max(config.shutdownDelayMs, minRetirementMs) + config.shutdownTimeoutMs + killAfterMs,
    settings: onlySelfHosted(config, upstreams),
    createFunctions: (worker) => ({
      takeBlock,
      keepCounts: (samples: Samples) => metrics.record(worker, samples),
    }),
    onEnded(worker, problem) {
      metrics.end(worker);
      if (problem !== null) log.error({ reason: problem }, 'a worker ended unexpectedly');
    },
  });
  let metricsServer: MetricsServer | null = null;
  let stopping: Promise<void> | null = null;

  if (config.metrics) {
    const { startMetricsServer } = await import('./http/metrics-server.ts');
    const collect = async () => {
      await workers.readReports(reportTimeoutMs, metrics.record);
      return metrics.total();
    };
    metricsServer = await startMetricsServer({ ...config.metrics, collect, events: createLogEvents(log) });
  }
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  const url = await workers.start();
  if (url === null) {
    if (stopping === null) process.exitCode = 1;
    await stop();
    return null;
  }
  process.on('SIGUSR2', workers.toggleDebug);
  // A terminal sends it when it is closed.
  if (!isatty(0)) process.on('SIGHUP', () => void restart());
  const knownBanks = createKnownBanks(createBankLists({ dataDir: config.dataDir }));
  const bankLists = knownBanks.lists();
  await knownBanks.close();
  return { url, metricsUrl: metricsServer?.url ?? null, bankLists };

  function onSignal(): void {
    if (stopping === null) log.info('stopping: active requests are finished first');
    void stop();
  }

  function stop(): Promise<void> {
    const ended = workers.stop();
    stopping ??= ended.then(closeAll);
    return stopping;
  }

  async function closeAll(isClean: boolean): Promise<void> {
    if (!isClean) process.exitCode = 1;
    await metricsServer?.close();
    await close();
  }

  async function restart(): Promise<void> {
    log.info('restarting the workers, one after the other');
    const isRestarted = await workers.restart();
    if (isRestarted) log.info('all workers were restarted');
    else if (stopping === null) log.error('a new worker did not start: the present workers continue');
  }
}

/** The keys of the others may be in files: a new worker reads them again, and they are not passed on as variables. */
export type WorkerSettings = { readonly [Name in keyof Upstreams]: UpstreamAccess | null };

function onlySelfHosted({ bankData, essays }: Config, upstreams: Upstreams): WorkerSettings {
  return {
    bankData: bankData.upstream ? null : upstreams.bankData,
    essays: essays.upstream ? null : upstreams.essays,
  };
}

/** A worker that is busy for longer is shown as it was. */
const reportTimeoutMs = 2_000;

/** The gateway in one of the workers. */
export async function runWorker(config: Config, selfHosted: WorkerSettings): Promise<void> {
  const bankData = config.bankData.upstream ?? selfHosted.bankData;
  const essays = config.essays.upstream ?? selfHosted.essays;
  if (bankData === null || essays === null)
    throw new Error('The variables of a worker are not those of its primary process');
  const upstreams = { bankData, essays };
  // Not loaded in the primary process.
  const { createGateway } = await import('./gateway.ts');
  const log = createLog({ level: config.logLevel, redact: createRedact(listSecrets(config, upstreams)) });
  logConsole(log, console);
  const signals = new EventEmitter();
  const primary = connectToPrimary<GatewayPrimaryFunctions, Samples>({
    stop: () => void signals.emit('SIGTERM'),
    retire() {
      gateway.leavePort();
      setTimeout(() => void stop(), Math.max(config.shutdownDelayMs, minRetirementMs));
    },
    setDebug: (isDebug) => gateway.setDebug(isDebug),
    report: async () => (await gateway.metrics()?.collect()) ?? {},
  });
  const gateway = createGateway(config, upstreams, {
    primary: { takeBlock: (...block) => primary.call('takeBlock', ...block) },
  });
  let stopping: Promise<void> | null = null;
  stopOnSignal(signals, { delayMs: config.shutdownDelayMs, announce: gateway.announceStop, stop });
  await primary.call('listens', await gateway.listen());

  function stop(): Promise<void> {
    stopping ??= leave();
    return stopping;
  }

  async function leave(): Promise<void> {
    await gateway.close();
    const metrics = gateway.metrics();
    if (metrics) await primary.call('keepCounts', await metrics.collectCounts());
    leavePrimary();
  }
}

/** After the time in which a worker should have ended. */
const killAfterMs = 10_000;

/** Clients with open connections need this time to send a request, whose response closes the connection. */
const minRetirementMs = 1_000;
