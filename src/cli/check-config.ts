import { PassThrough } from 'node:stream';
import { Agent } from 'undici';
import { createBankLists, describeRenewal, importCommand, isOld } from '../banks/bank-lists.ts';
import { importableCountries } from '../banks/import/files/formats.ts';
import { createKnownBanks } from '../banks/known-banks.ts';
import { checkDataFolder } from '../base/data-folder.ts';
import { ConfigError, errorCodeOf, messageOf } from '../base/errors.ts';
import { print } from '../base/process/terminal.ts';
import { findKeySetProblem } from '../gateway/callers/jwt.ts';
import { type Config, draftsEssays, essaysAdvice, readConfig, writesDataDir } from '../gateway/config/read-config.ts';
import { describeAddresses, type RedisConfig } from '../gateway/config/redis-url.ts';
import { createGateway } from '../gateway/gateway.ts';
import { createRedisStore } from '../gateway/stores/redis-store.ts';
import { StoreError } from '../gateway/stores/store.ts';
import { textsOfRisks } from '../gateway/telemetry/log-events.ts';
import { findUnknownVariables, listValues } from './describe-variables.ts';
import { findSecretProblem } from './store.ts';

/**
 * Prints the configuration with its secrets masked, then checks what the start of the gateway checks, and connects to
 * the upstreams and to Redis. No paid call is made. The exit code is 1 if something is wrong.
 * @param options `json`: prints one JSON document, also if the configuration is invalid
 */
export async function checkConfig(dotenvNames: ReadonlySet<string>, { json = false } = {}): Promise<void> {
  try {
    const report = await createReport(dotenvNames);
    if (!report.ok) process.exitCode = 1;
    print(`${json ? JSON.stringify(report, null, 2) : describeReport(report).join('\n')}\n`);
  } catch (error) {
    if (json && error instanceof ConfigError)
      print(`${JSON.stringify({ ok: false, problems: error.problems }, null, 2)}\n`);
    throw error;
  }
}

/** With `--json`, this is what is printed; an invalid configuration has only `ok` and `problems`. */
type ConfigReport = Awaited<ReturnType<typeof createReport>>;

interface CheckResult {
  ok: boolean;
  /** It works, but what is paid for may be lost. */
  isWarning?: true;
  description: string;
}

async function createReport(dotenvNames: ReadonlySet<string>) {
  const config = readConfig(process.env);
  const checks = [await checkFiles(config), ...(await Promise.all(probeAll(config)))].flat();
  // Secrets are masked. Null: the variable is not set and has no default.
  const configuration = listValues(config, process.env, dotenvNames).map((listed) => ({
    ...listed,
    value: listed.value || null,
  }));
  return {
    ok: checks.every(({ ok }) => ok),
    problems: [],
    configuration,
    unknownVariables: findUnknownVariables(process.env),
    ...listBankLists(config.dataDir),
    checks,
  };
}

/** Empty if the imports cannot be read: the checks say why. */
function listBankLists(dataDir: string) {
  const countDays = (date: string) => Math.floor((Date.now() - Date.parse(date)) / (24 * 60 * 60 * 1_000));
  try {
    const knownBanks = createKnownBanks(createBankLists({ dataDir }));
    const bankLists = knownBanks.lists().map((list) => {
      const { country, date, validUntil, source } = list;
      const daysOld = countDays(date);
      const outdated = isOld(list);
      const endsSoon = !outdated && describeRenewal(list) !== null;
      return { country, date, daysOld, validUntil, outdated, endsSoon, source };
    });
    const registers = knownBanks.registers();
    const schemeRegisters = registers.map(({ scheme, date }) => ({ scheme, date, daysOld: countDays(date) }));
    return { bankLists, schemeRegisters };
  } catch (error) {
    if (error instanceof ConfigError) return { bankLists: [], schemeRegisters: [] };
    throw error;
  }
}

function describeReport(report: ConfigReport): string[] {
  const { configuration, unknownVariables, bankLists, schemeRegisters, checks } = report;
  const importable = importableCountries();
  const width = Math.max(...configuration.map(({ name }) => name.length));
  return [
    'Configuration',
    ...configuration.map(({ name, value, source }) => {
      return `  ${name.padEnd(width)}  ${value === null ? '(not set)' : `${value}  (${source})`}`;
    }),
    ...unknownVariables.map((name) => `  unknown and ignored: ${name}`),
    'Bank lists',
    ...bankLists.map(({ country, date, daysOld, validUntil, outdated, endsSoon, source }) => {
      const validity = validUntil === null ? '' : `, valid until ${validUntil}`;
      const file = outdated ? 'current' : 'next';
      const remedy = importable.includes(country)
        ? `import the ${file} file: ${importCommand(country)}`
        : 'update Ledgerquill';
      const advice = outdated || endsSoon ? `: ${outdated ? 'OUT OF DATE' : 'ends soon'}, ${remedy}` : '';
      return `  ${country}  ${date}, ${describeAge(daysOld)}${validity}${advice}  (${source})`;
    }),
    ...(schemeRegisters.length > 0 ? ['Registers of payment schemes'] : []),
    ...schemeRegisters.map(({ scheme, date, daysOld }) => `  ${scheme}  imported on ${date}, ${describeAge(daysOld)}`),
    'Checks',
    ...checks.map((check) => `  ${describeResult(check)}  ${check.description}`),
  ];
}

function describeResult({ ok, isWarning }: CheckResult): string {
  if (!ok) return 'FAILED';
  return isWarning ? 'WARN  ' : 'ok    ';
}

/** A list may be imported before its first day. */
function describeAge(days: number): string {
  return days < 0 ? 'not yet valid' : `${days} ${days === 1 ? 'day' : 'days'} old`;
}

/** Creating the gateway reads all files. It does not listen, and makes no calls: nothing is written to Redis. */
async function checkFiles(config: Config): Promise<CheckResult> {
  const unused = { url: 'http://127.0.0.1:9', apiKey: 'not-used' };
  const { bankData, essays, store } = config;
  const upstreams = { bankData: bankData.upstream ?? unused, essays: essays.upstream ?? unused };
  const offlineRedis = store.redis && { ...store.redis, addresses: [{ host: '127.0.0.1', port: 9 }] };
  const offline = { ...config, store: { ...store, redis: offlineRedis } };
  const logDestination = new PassThrough().resume();
  try {
    if (writesDataDir(config)) checkDataFolder(config.dataDir);
    await createGateway(offline, upstreams, { logDestination }).close();
    const problem = store.redis === null ? await findSecretProblem(store, config.dataDir) : null;
    if (problem !== null) return { ok: false, description: problem };
    return { ok: true, description: `DATA_DIR: ${describeUse(config)}` };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { ok: false, description: error.problems.join('; ') };
  }
}

function describeUse(config: Config): string {
  if (config.store.redis === null) return 'files can be created in it';
  return writesDataDir(config) ? 'the audit trail can be written to it' : 'not written to, because REDIS_URL is set';
}

function probeAll(config: Config): Promise<CheckResult | CheckResult[]>[] {
  const { bankData, essays, essayService, access, otlp, store } = config;
  const { jwt } = access;
  const selfHosted = ', the self-hosted service starts with the gateway';
  return [
    probeIfSet('BANK_DATA_URL', bankData.upstream?.url, selfHosted),
    probeIfSet('ESSAY_URL', essays.upstream?.url, selfHosted),
    ...(essays.upstream !== null && essays.declared.texts === null
      ? [probeIfSet('ESSAY_TEXT_FIELD', undefined, `, essays are guessed in responses; ${essayFieldAdvice}`)]
      : []),
    ...(draftsEssays(config)
      ? [probeIfSet('LLM_URL', undefined, `, essays are drafts from templates; ${essaysAdvice}`)]
      : []),
    ...(essayService.llm ? [probe('LLM_URL', essayService.llm.url)] : []),
    ...(jwt && 'url' in jwt.keys ? [checkKeySet(jwt.keys.url)] : []),
    ...(otlp ? [probe('OTEL_EXPORTER_OTLP_ENDPOINT', otlp.endpoint)] : []),
    ...(store.redis ? [checkRedis(store.redis), checkRedisSecret(config)] : []),
  ];
}

async function probeIfSet(variable: string, url: string | undefined, otherwise: string): Promise<CheckResult> {
  return url === undefined ? { ok: true, description: `${variable}: not set${otherwise}` } : probe(variable, url);
}

/**
 * Connects to the server of a URL, with TLS for https://, and requests HEAD / without a key. No endpoint of a paid
 * service is called, and without a key no call can be charged; so the key itself is not checked.
 */
async function probe(variable: string, url: string): Promise<CheckResult> {
  const { origin } = new URL(url);
  const agent = new Agent({ connect: { timeout: timeoutMs }, headersTimeout: timeoutMs });
  try {
    const { statusCode, body } = await agent.request({ origin, path: '/', method: 'HEAD' });
    await body.dump();
    const ok = statusCode < 502 || statusCode > 504;
    const problem = ok ? '' : ': the service behind it is not available';
    return { ok, description: `${variable}: ${origin} responded ${statusCode} to HEAD / without a key${problem}` };
  } catch (error) {
    const failure = describeFailure(errorCodeOf(error) ?? 'unknown reason');
    return { ok: false, description: `${variable}: ${origin}: ${failure}` };
  } finally {
    await agent.destroy();
  }
}

const essayFieldAdvice = 'to see the right value, order one with ledgerquill try-essay';
const timeoutMs = 3_000;

function describeFailure(code: string): string {
  const found = failures.find(([codes]) => codes.test(code));
  return `${found?.[1] ?? 'the server does not respond to HTTP; check the port, and http:// or https://'} (${code})`;
}

const failures: readonly [RegExp, string][] = [
  [/^(ENOTFOUND|EAI_)/, 'the host name cannot be resolved; check it and the name server'],
  [/^ECONNREFUSED$/, 'nothing listens there; check host and port'],
  [
    /^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/,
    'the server cannot be reached; check the firewalls',
  ],
  [/^UND_ERR_HEADERS_TIMEOUT$/, `the server accepts connections, but does not respond within ${timeoutMs / 1_000} s`],
  [
    /CERT|SELF_SIGNED|UNABLE_TO|_SSL_|_TLS_|^EPROTO$/,
    'TLS fails; check https://, the host name and the certificate, or set NODE_EXTRA_CA_CERTS for a private authority',
  ],
];

/** The settings that `INFO` prints, which is permitted to the gateway. */
async function checkRedis(server: RedisConfig): Promise<CheckResult[]> {
  let reason = '';
  const storeDown = (text: string) => {
    reason ||= text;
  };
  const store = createRedisStore({ server, commandTimeoutMs: timeoutMs, events: { storeDown, storeUp() {} } });
  try {
    const risks = await store.findRisks();
    return [
      { ok: true, description: `REDIS_URL: ${describeRedis(server)} responded to INFO` },
      ...risks.map((risk) => ({ ok: true, isWarning: true as const, description: `REDIS_URL: ${textsOfRisks[risk]}` })),
    ];
  } catch (error) {
    reason ||= messageOf(error);
    const description = `REDIS_URL: ${describeAddresses(server)} did not respond to INFO (${reason})`;
    return [{ ok: false, description }];
  } finally {
    await store.close();
  }
}

async function checkKeySet(url: string): Promise<CheckResult> {
  const problem = await findKeySetProblem(url);
  if (problem === null) return { ok: true, description: `JWT_JWKS_URL: ${url} has keys for signatures` };
  const failure = /^[A-Z][A-Z\d_]+$/.test(problem)
    ? describeFailure(problem)
    : `${problem}; it must be a JSON Web Key Set`;
  return { ok: false, description: `JWT_JWKS_URL: ${url}: ${failure}` };
}

async function checkRedisSecret({ store, dataDir }: Config): Promise<CheckResult> {
  try {
    const problem = await findSecretProblem(store, dataDir);
    return { ok: problem === null, description: problem ?? 'STORE_SECRET: Redis has no check value of another secret' };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { ok: false, description: `STORE_SECRET: not checked, because Redis failed (${error.reason})` };
  }
}

function describeRedis({ kind, addresses, masterName }: RedisConfig): string {
  if (kind === 'sentinel') return `the master ${masterName}, found through Sentinel,`;
  return kind === 'cluster' ? 'the cluster' : (addresses[0]?.host ?? '');
}
