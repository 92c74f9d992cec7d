import { describeRenewal, isOld } from '../banks/bank-lists.ts';
import type { BankListStatus } from '../banks/listed-bank.ts';
import { checkDataFolder, isWorldWritable } from '../base/data-folder.ts';
import { createLog, type Log, logConsole } from '../base/log.ts';
import { configureHeap } from '../base/process/heap-settings.ts';
import { runMain } from '../base/process/run-main.ts';
import { stopOnSignal } from '../base/process/stop-signals.ts';
import { createRedact } from '../base/redact.ts';
import { type EmbeddedService, resolveUpstream } from '../base/rest-service.ts';
import {
  type Config,
  draftsEssays,
  essaysAdvice,
  listSecrets,
  readConfig,
  type Upstreams,
} from '../gateway/config/read-config.ts';
import { findUnknownVariables } from './describe-variables.ts';
import { verifyStore } from './store.ts';

/*
 * The gateway process: reads the configuration, starts the self-hosted services that replace missing upstreams, listens,
 * and stops everything on SIGTERM or SIGINT, the services after the gateway. It exits when everything is closed. The code
 * of the self-hosted services is loaded only if they are used: it takes 130 ms and 10 MB.
 */

configureHeap();
await runMain(() => run(readConfig(process.env)));

async function run(config: Config): Promise<void> {
  warnOfUnknownVariables(config);
  // Redis replaces the data folder.
  if (config.store.redis === null) checkDataFolder(config.dataDir);
  const services: EmbeddedService[] = [];
  const stopServices = () => Promise.all(services.map((service) => service.close()));
  try {
    await start(config, services, stopServices);
  } catch (error) {
    // Otherwise the process would not end.
    await stopServices();
    throw error;
  }
}

function warnOfUnknownVariables(config: Config): void {
  const variables = findUnknownVariables(process.env);
  if (variables.length === 0) return;
  // Only names of variables are logged, so there is nothing to redact.
  const log = createLog({ level: config.logLevel, redact: (line) => line });
  log.warn({ variables }, 'unknown environment variables are ignored');
}

async function start(config: Config, services: EmbeddedService[], stopServices: () => Promise<unknown>): Promise<void> {
  const verifying = config.store.redis === null ? verifyStore(config.dataDir) : null;
  // Awaited below. Something else may fail first.
  verifying?.catch(() => {});
  const { llm, monthlyAllowance, wordDelayMs } = config.essayService;
  const createServiceLog = (apiKey: string) =>
    createLog({ level: config.logLevel, redact: createRedact([apiKey, llm?.apiKey ?? '']) });
  const bankData = await resolveUpstream(config.bankData.upstream, services, async (apiKey) => {
    const { createBankDataService } = await import('../bank-data-service/create-bank-data-service.ts');
    const service = createBankDataService({ apiKey, dataDir: config.dataDir, log: createServiceLog(apiKey) });
    return { service };
  });
  const essays = await resolveUpstream(config.essays.upstream, services, async (apiKey) => {
    const { createEssayService } = await import('../essay-service/create-essay-service.ts');
    const { createEssayWriter, describeWriter } = await import('../essay-service/run-essay-service.ts');
    const writer = createEssayWriter(llm, wordDelayMs);
    const service = createEssayService({ apiKey, writer, monthlyAllowance, log: createServiceLog(apiKey) });
    return { service, note: `; ${describeWriter(llm, wordDelayMs)}` };
  });
  const upstreams = { bankData: bankData.access, essays: essays.access };
  logConsole(createLog({ level: config.logLevel, redact: createRedact(listSecrets(config, upstreams)) }), console);
  await verifying;
  const { url, metricsUrl, bankLists, log } = await startGateway(config, upstreams, stopServices);
  if (draftsEssays(config)) log.warn(`essays are drafts from templates: ${essaysAdvice}`);
  if (config.store.redis === null && isWorldWritable(config.dataDir)) {
    log.warn('every user of the machine can write to DATA_DIR: remove that right, for example with chmod o-w');
  }
  warnOfEndedLists(bankLists, log);
  printStart({
    // Where GraphiQL is off, the URL is that of the endpoint.
    [config.access.commonScopes.includes('graphiql') ? 'GraphiQL' : 'GraphQL']: [`${url}/graphql`],
    metrics: metricsUrl ? [metricsUrl] : [],
    'bank data': [bankData.description],
    essays: [essays.description],
    'bank lists': [...describeOldLists(bankLists), ...bankLists.flatMap((list) => describeRenewal(list) ?? [])],
    exported: config.otlp ? [`${config.otlp.signals.join(', ')} to ${config.otlp.endpoint}`] : [],
    'to stop': [`SIGTERM or Ctrl+C: ${describeStop(config)}`],
  });
}

/** For people in a terminal; otherwise as one more line of JSON, as the log has, which a collector joins with standard output. */
function printStart(texts: Readonly<Record<string, readonly string[]>>): void {
  const msg = 'Ledgerquill is ready.';
  const described = Object.entries(texts).filter(([, lines]) => lines.length > 0);
  if (process.stdout.isTTY || process.stderr.isTTY) {
    const lines = described.flatMap(([name, lines]) => lines.map((line) => `  ${name.padEnd(10)} ${line}`));
    process.stdout.write(`${[msg, ...lines].join('\n')}\n`);
    return;
  }
  const camelCase = (name: string) => name.replace(/ (.)/, (_, letter: string) => letter.toUpperCase());
  const fields = Object.fromEntries(described.map(([name, lines]) => [camelCase(name), lines.join('; ')]));
  // Whatever the level of the log is.
  createLog({ level: 'info', redact: (line) => line, destination: process.stdout }).info(fields, msg);
}

/** @param close closes the self-hosted services, after the gateway */
async function startGateway(config: Config, upstreams: Upstreams, close: () => Promise<unknown>) {
  const { createGateway } = await import('../gateway/gateway.ts');
  const gateway = createGateway(config, upstreams);
  const { log } = gateway;
  logConsole(log, console);
  const stop = async () => {
    await gateway.close();
    await close();
  };
  const announce = () => {
    gateway.announceStop();
    log.info('stopping: active requests are finished first');
  };
  stopOnSignal(process, { delayMs: config.shutdownDelayMs, announce, stop });
  let isDebug = false;
  process.on('SIGUSR2', () => {
    isDebug = !isDebug;
    gateway.setDebug(isDebug);
  });
  // In a terminal, SIGHUP ends the process when its window is closed.
  if (!process.stdout.isTTY) process.on('SIGHUP', gateway.reloadKeys);
  const url = await gateway.listen();
  return { url, metricsUrl: gateway.metricsUrl(), bankLists: gateway.bankLists(), log };
}

/** Lists of the package without a last day cannot be renewed by all operators: the first lines of the output name them. */
function warnOfEndedLists(lists: readonly BankListStatus[], log: Log): void {
  const lastValidDays = lists.flatMap((list) =>
    list.validUntil !== null && isOld(list) ? [`${list.country}: ${list.validUntil}`] : [],
  );
  if (lastValidDays.length === 0) return;
  log.warn(
    { lastValidDays },
    'bank lists are out of date: update Ledgerquill, or import newer files with import-banks',
  );
}

/** Empty if none is out of date. */
function describeOldLists(lists: readonly BankListStatus[]): string[] {
  const old = lists.filter(isOld).map(({ country }) => country);
  return old.length === 0 ? [] : [`out of date, see ledgerquill banks: ${old.join(' ')}`];
}

function describeStop({ shutdownDelayMs, shutdownTimeoutMs }: Config): string {
  const delay = shutdownDelayMs === 0 ? '' : `${shutdownDelayMs / 1_000} s not ready, then `;
  return `${delay}at most ${shutdownTimeoutMs / 1_000} s for active requests`;
}
