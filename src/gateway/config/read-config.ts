import { ConfigError, type ServiceName, serviceNames } from '../../base/errors.ts';
import type { SecretFile } from '../../base/variables/follow-secret-file.ts';
import { isLoopback, isOwnText, secret } from '../../base/variables/parsers.ts';
import type { Environment } from '../../base/variables/read-variables.ts';
import { readVariables } from '../../base/variables/read-variables.ts';
import { createMissingVariableError, readEssayServiceSettings } from '../../base/variables/service-config.ts';
import { hasCallers, readAccessConfig } from './access-config.ts';
import { readOtlpConfig } from './otlp-config.ts';
import { gatewayVariables } from './variables.ts';

export type Config = ReturnType<typeof createConfig>;
export type StoreConfig = Config['store'];
export type TrustedDocumentsConfig = NonNullable<Config['trustedDocuments']>;

export interface UpstreamAccess {
  /** Base URL without a trailing slash. */
  url: string;
  apiKey: string;
  /** Where the key was read, and is read again. */
  apiKeyFile?: string | undefined;
}

/** The file with the key of a service. When the file changes, `access` gets the new key. */
export function keyFileOf<Variable extends string>(variable: Variable, access: UpstreamAccess): SecretFile<Variable> {
  return {
    file: access.apiKeyFile ?? null,
    variable,
    type: secret(),
    value: access.apiKey,
    use(key) {
      access.apiKey = key;
    },
  };
}

/** Both upstreams, configured or self-hosted. */
export interface Upstreams {
  bankData: UpstreamAccess;
  essays: UpstreamAccess;
}

type Values = ReturnType<typeof readVariables<typeof gatewayVariables>>;

/**
 * Reads the gateway's configuration from environment variables; an empty value counts as not set.
 * @throws ConfigError that lists all invalid values, or the first invalid combination of valid values
 */
export function readConfig(env: Environment, { isTerminal = process.stdout.isTTY === true } = {}): Config {
  const vars = readVariables(gatewayVariables, env);
  if (vars.REDIS_URL && !vars.STORE_SECRET) throw createMissingVariableError('STORE_SECRET', 'REDIS_URL');
  if (vars.STORE_SECRET_OLD && !vars.STORE_SECRET) throw createMissingVariableError('STORE_SECRET', 'STORE_SECRET_OLD');
  if (!vars.REDIS_URL && (vars.REPLICAS ?? 1) > 1) throw createMissingVariableError('REDIS_URL', 'REPLICAS');
  if (vars.METRICS_PORT && vars.METRICS_PORT === vars.PORT) throw new ConfigError([samePort]);
  if (vars.OPERATOR_KEY && vars.METRICS_PORT === undefined)
    throw createMissingVariableError('METRICS_PORT', 'OPERATOR_KEY');
  const isLocal = isLoopback(vars.HOST);
  const config = createConfig(vars, isLocal, isTerminal);
  const hasPaidKey = config.bankData.upstream || config.essays.upstream || config.essayService.llm?.apiKey;
  const problems = [
    ...(vars.GATEWAY_AUTH === 'none' || hasCallers(config.access) ? [] : [exposedKeys]),
    ...(vars.ALLOWED_HOSTS ? [] : [unnamedHosts]),
  ];
  if (hasPaidKey && !isLocal && problems.length > 0) throw new ConfigError(problems);
  return config;
}

const samePort = 'METRICS_PORT: must be another port than PORT: metrics are never served on the public port';

const exposedKeys =
  'HOST: must be a loopback address, such as 127.0.0.1, because upstream calls are paid and no callers are configured: ' +
  'set GATEWAY_API_KEYS or JWT_JWKS_URL, or GATEWAY_AUTH=none if a proxy in front of the gateway authenticates callers';

const unnamedHosts =
  'ALLOWED_HOSTS: missing; it is required because HOST is not a loopback address and upstream calls are paid: set the ' +
  'host names that clients use, such as gateway.example.com, or * for any';

function createConfig(vars: Values, isLocal: boolean, isTerminal: boolean) {
  const paidServices = listPaidServices(vars);
  return {
    host: vars.HOST,
    port: vars.PORT,
    logLevel: vars.LOG_LEVEL,
    /** The commit that runs, for the metrics. */
    revision: vars.REVISION,
    /** Limit for the lines per second in the request log, for failed requests and for all others; 0: none. */
    requestLogPerSecond: vars.REQUEST_LOG_PER_SECOND,
    paidServices,
    /** The trail of their calls; null: there is none. */
    /** Null days: the lines go to standard output. */
    audit:
      vars.AUDIT_DAYS === 0 || paidServices.length === 0
        ? null
        : { keepDays: vars.AUDIT_DAYS === 'stdout' ? null : vars.AUDIT_DAYS, services: paidServices },
    /** Address of the metrics server; null: there is none. */
    metrics: vars.METRICS_PORT === undefined ? null : { host: vars.METRICS_HOST ?? vars.HOST, port: vars.METRICS_PORT },
    /** Permits purges at the metrics server; null: there are none. */
    operatorKey: vars.OPERATOR_KEY ?? null,
    /** Folder of the embedded store and of imported bank directories. */
    dataDir: vars.DATA_DIR,
    /** The store of data that outlives a request. */
    store: {
      /** Shared by several gateways; null: the embedded store in `dataDir`. */
      redis: vars.REDIS_URL ?? null,
      /** How long a look-up waits for Redis, in milliseconds. */
      lookUpTimeoutMs: redisTimeoutMs,
      /** How long a look-up waits until Redis has counted its call, while many are left; null: until it is counted. */
      countTimeoutMs: vars.REDIS_URL ? redisTimeoutMs : null,
      /** Number of gateways that share the store; null: they are counted. */
      replicas: vars.REPLICAS ?? null,
      /** Encrypts the store; null: generated and stored in `dataDir`. Never null if `redis` is set. */
      secret: vars.STORE_SECRET ?? null,
      /** Another secret that opens what is stored, while the secret is replaced. */
      oldSecret: vars.STORE_SECRET_OLD ?? null,
      /** Where these were read, and are read again; of the URL, the password. */
      redisFile: vars.files.REDIS_URL_FILE ?? null,
      secretFile: vars.files.STORE_SECRET_FILE ?? null,
      oldSecretFile: vars.files.STORE_SECRET_OLD_FILE ?? null,
    },
    /**
     * How long the gateway serves requests after a stop signal while /ready responds 503, in milliseconds. Only a gateway that runs in
     * a terminal, and that no other machine can reach, is sure to have no proxy in front of it.
     */
    shutdownDelayMs: vars.SHUTDOWN_DELAY_MS ?? (isLocal && isTerminal ? 0 : 5_000),
    /**
     * How long active requests may take to finish after that, in milliseconds. By default, every operation ends by its
     * deadline; then its response is sent and an essay is stored.
     */
    shutdownTimeoutMs: vars.SHUTDOWN_TIMEOUT_MS ?? Math.max(vars.BANK_DATA_TIMEOUT_MS, vars.ESSAY_TIMEOUT_MS) + 5_000,
    /** Limit for all request bodies and unread responses in memory, in bytes. */
    maxBufferedBytes: vars.MAX_BUFFERED_BYTES,
    connections: {
      maxConnections: vars.MAX_CONNECTIONS,
      /** How long a client may take to send a request, and how long it may read nothing of a response, in milliseconds. */
      clientTimeoutMs: vars.CLIENT_TIMEOUT_MS,
    },
    /** Origins whose pages may call from a browser; empty: only pages of the gateway's own origin. */
    corsOrigins: vars.CORS_ORIGINS,
    /** Host names under which GraphQL is served, besides the names of the loopback interface; `*` for any. */
    allowedHosts: vars.ALLOWED_HOSTS ?? (isLocal ? [] : ['*']),
    access: readAccessConfig(vars),
    /** Documents that clients of the operator send. */
    trustedDocuments: vars.TRUSTED_DOCUMENTS
      ? {
          /** Files, and folders of files. */
          paths: vars.TRUSTED_DOCUMENTS,
          /** What happens to other documents: they are executed and logged, executed, or refused. */
          mode: vars.TRUSTED_DOCUMENTS_MODE,
        }
      : null,
    /** Null: nothing is exported. */
    otlp: readOtlpConfig(vars),
    /** Limit for the IBANs, and for the BICs, of one query, duplicates included. */
    maxIbansPerQuery: vars.MAX_IBANS_PER_QUERY,
    /** Files that are checked over HTTP. */
    check: {
      /** Limit for the requests of a process at a time; 0: there is no such endpoint. */
      maxRequests: vars.CHECK_MAX_REQUESTS,
      /** Limit for one file. */
      maxBytes: vars.CHECK_MAX_BYTES,
      /** Limit for the different IBANs of one file that are looked up. */
      maxIbans: vars.CHECK_MAX_IBANS,
    },
    /** Whether agents may use the gateway at /mcp. */
    hasMcp: vars.MCP,
    /** Limit for the fields in one response and their weights, computed before execution. */
    maxQueryCost: vars.MAX_QUERY_COST,
    maxReplyBytes: vars.MAX_RESPONSE_BYTES,
    /** Limit for concurrent calls per upstream. */
    upstreamConcurrency: vars.UPSTREAM_CONCURRENCY,
    bankData: {
      /** Null: the self-hosted service is started and used. */
      upstream: readUpstream(
        'BANK_DATA',
        vars.BANK_DATA_URL,
        vars.BANK_DATA_API_KEY,
        vars.files.BANK_DATA_API_KEY_FILE,
      ),
      /** Whether the service is our own, in this process or another one, so that it reports the version of its data. */
      isSelfHosted: vars.BANK_DATA_URL === undefined || vars.BANK_DATA_SELF_HOSTED,
      /** Deadline of one operation, including queueing and retries, in milliseconds. */
      timeoutMs: vars.BANK_DATA_TIMEOUT_MS,
      /** How long a cached response is fresh, in milliseconds. */
      freshMs: vars.BANK_DATA_FRESH_S * 1_000,
      /** Maximum age of a served response, in milliseconds. After `freshMs` it is stale. */
      maxAgeMs: vars.BANK_DATA_STALE_S * 1_000,
      /** Approximate size limit of the cached look-ups, in bytes: seven eighths of CACHE_MAX_MB. */
      lookUpBytes: vars.CACHE_MAX_MB * 875_000,
      /** Approximate size limit of the kept replies, in bytes. */
      keptReplyBytes: vars.CACHE_MAX_MB * 125_000,
      /** Calls per calendar month (UTC); null: the gateway sets no limit. */
      monthlyAllowance: vars.BANK_DATA_MONTHLY_ALLOWANCE ?? null,
    },
    /** `upstream`, `timeoutMs` and `monthlyAllowance` are as in `bankData`. */
    essays: {
      upstream: readUpstream('ESSAY', vars.ESSAY_URL, vars.ESSAY_API_KEY, vars.files.ESSAY_API_KEY_FILE),
      timeoutMs: vars.ESSAY_TIMEOUT_MS,
      /** The upstream's name for each mode. */
      modeNames: vars.ESSAY_MODES,
      /** Paths of the response fields with the text, and of the one that says that the order failed; null: they are guessed. */
      declared: { texts: vars.ESSAY_TEXT_FIELD ?? null, error: vars.ESSAY_ERROR_FIELD ?? null },
      /** How long essays are stored, in days. */
      keepDays: vars.ESSAY_KEEP_DAYS,
      /** Orders that are written without their client. */
      orders: {
        /** Limit for those that a process runs at a time. */
        maxRunning: vars.ESSAY_ORDERS_RUNNING,
        /** Limit for those of a caller that have not ended, in each process. */
        maxPerCaller: vars.ESSAY_ORDERS_PER_CALLER,
        /** Whether one that was sent is cancelled as well. */
        cancelsSent: vars.ESSAY_CANCEL_SENT,
      },
      monthlyAllowance: vars.ESSAY_MONTHLY_ALLOWANCE ?? null,
    },
    essayService: readEssayServiceSettings(vars),
  };
}

/** Whether the process writes to DATA_DIR: imports of bank lists are only read. */
export function writesDataDir({ store, audit }: Pick<Config, 'store' | 'audit'>): boolean {
  return store.redis === null || (audit !== null && audit.keepDays !== null);
}

/** The services whose calls are charged: those with a price, and all but our own, unless a language model is paid for. */
function listPaidServices(vars: Values): ServiceName[] {
  const isPaid = {
    'bank-data': vars.BANK_DATA_PRICE ?? (vars.BANK_DATA_URL && !vars.BANK_DATA_SELF_HOSTED),
    essays: vars.ESSAY_PRICE ?? vars.ESSAY_URL ?? vars.LLM_API_KEY,
  };
  return serviceNames.filter((name) => isPaid[name]);
}

const redisTimeoutMs = 100;

/** What to configure where `draftsEssays`. */
export const essaysAdvice = 'for real essays, set LLM_URL and LLM_MODEL, or ESSAY_URL and ESSAY_API_KEY';

/** Whether essays are drafts although bank data is paid for: an essay service was probably forgotten. */
export function draftsEssays({ bankData, essays, essayService }: Config): boolean {
  return !bankData.isSelfHosted && essays.upstream === null && essayService.llm === null;
}

function readUpstream(prefix: string, url?: string, apiKey?: string, apiKeyFile?: string): UpstreamAccess | null {
  if (url && apiKey) return { url, apiKey, ...(apiKeyFile && { apiKeyFile }) };
  if (url) throw createMissingVariableError(`${prefix}_API_KEY`, `${prefix}_URL`);
  if (apiKey) throw createMissingVariableError(`${prefix}_URL`, `${prefix}_API_KEY`);
  return null;
}

/** The keys and the upstream hosts, which must not appear in logs and responses. */
export function listSecrets(
  { essayService: { llm }, operatorKey, store, access, otlp }: Config,
  upstreams: Upstreams,
): string[] {
  const paid = [...Object.values(upstreams), ...(llm ? [llm] : [])];
  const keys = paid.flatMap(({ url, apiKey }) => [apiKey ?? '', ...secretHosts(url)]);
  // Such as `Bearer key`.
  const headers = Object.values(otlp?.headers ?? {}).flatMap((value) => value.split(' '));
  // A header may be no secret, and a password may be a word.
  const others = [...headers, store.redis?.password ?? ''].filter(isUncommon);
  return [
    ...keys,
    ...others,
    store.secret ?? '',
    store.oldSecret ?? '',
    operatorKey ?? '',
    ...(access.router?.secrets ?? []),
  ];
}

/** A short or common word would be redacted everywhere. */
export function isUncommon(text: string): boolean {
  return text.length >= 8 && !isOwnText(text);
}

/** Not a name without a domain, such as `bank-data` or `essays` in Compose and Kubernetes, which is a word of other texts. */
function secretHosts(url: string): string[] {
  const { host } = new URL(url);
  return /[.:]/.test(host) ? [host] : [];
}
