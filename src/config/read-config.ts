import { ConfigError } from '../errors.ts';
import { hasCallers, readAccessConfig } from './access-config.ts';
import type { Config, UpstreamAccess } from './gateway-config.ts';
import { isLoopback } from './parsers.ts';
import { readVariables } from './read-variables.ts';
import { createMissingVariableError, readEssayServiceSettings } from './service-config.ts';
import { readTracesConfig } from './traces-config.ts';
import { type Environment, gatewayVariables } from './variables.ts';

/**
 * Reads the gateway's configuration from environment variables; an empty value counts as not set.
 * @throws ConfigError that lists all invalid values, or the first invalid combination of valid values
 */
export function readConfig(env: Environment): Config {
  const vars = readVariables(gatewayVariables, env);
  if (vars.REDIS_URL && !vars.STORE_SECRET) throw createMissingVariableError('STORE_SECRET', 'REDIS_URL');
  if (!vars.REDIS_URL && vars.REPLICAS > 1) throw createMissingVariableError('REDIS_URL', 'REPLICAS');
  if (vars.METRICS_PORT && vars.METRICS_PORT === vars.PORT) throw new ConfigError([samePort]);
  const isLocal = isLoopback(vars.HOST);
  const config: Config = {
    host: vars.HOST,
    port: vars.PORT,
    logLevel: vars.LOG_LEVEL,
    metrics: vars.METRICS_PORT === undefined ? null : { host: vars.METRICS_HOST ?? vars.HOST, port: vars.METRICS_PORT },
    requestLogPerSecond: vars.REQUEST_LOG_PER_SECOND,
    dataDir: vars.DATA_DIR,
    store: { redis: vars.REDIS_URL ?? null, replicas: vars.REPLICAS, secret: vars.STORE_SECRET ?? null },
    shutdownDelayMs: vars.SHUTDOWN_DELAY_MS ?? (isLocal ? 0 : 5_000),
    // Every operation ends by its deadline; then its response is sent and an essay is stored.
    shutdownTimeoutMs: vars.SHUTDOWN_TIMEOUT_MS ?? Math.max(vars.BANK_DATA_TIMEOUT_MS, vars.ESSAY_TIMEOUT_MS) + 5_000,
    maxBodyBytes: vars.MAX_BODY_BYTES,
    maxBufferedBytes: Math.max(vars.MAX_BUFFERED_BYTES, vars.MAX_BODY_BYTES),
    connections: {
      maxConnections: vars.MAX_CONNECTIONS,
      maxRequestsPerConnection: vars.MAX_REQUESTS_PER_CONNECTION,
      clientTimeoutMs: vars.CLIENT_TIMEOUT_MS,
    },
    corsOrigins: vars.CORS_ORIGINS,
    allowedHosts: vars.ALLOWED_HOSTS ?? (isLocal ? [] : ['*']),
    access: readAccessConfig(vars),
    trustedDocuments: vars.TRUSTED_DOCUMENTS
      ? { paths: vars.TRUSTED_DOCUMENTS, mode: vars.TRUSTED_DOCUMENTS_MODE, maxCharacters: vars.MAX_QUERY_CHARS }
      : null,
    traces: readTracesConfig(vars),
    maxEssaysPerQuery: vars.MAX_ESSAYS_PER_QUERY,
    maxEntitiesPerQuery: vars.MAX_ENTITIES_PER_QUERY,
    maxQueryTokens: vars.MAX_QUERY_TOKENS,
    maxQueryChars: vars.MAX_QUERY_CHARS,
    maxQueryCost: vars.MAX_QUERY_COST,
    federationTraces: vars.FEDERATION_TRACES,
    exposeCost: vars.EXPOSE_COST,
    maxIbansPerQuery: vars.MAX_IBANS_PER_QUERY,
    upstreamConcurrency: vars.UPSTREAM_CONCURRENCY,
    upstreamQueue: vars.UPSTREAM_QUEUE,
    retryBackoffMs: vars.UPSTREAM_RETRY_BACKOFF_MS,
    maxResponseBytes: vars.MAX_ANSWER_BYTES,
    bankData: {
      upstream: readUpstream('BANK_DATA', vars.BANK_DATA_URL, vars.BANK_DATA_API_KEY),
      isSelfHosted: vars.BANK_DATA_URL === undefined || vars.BANK_DATA_SELF_HOSTED,
      timeoutMs: vars.BANK_DATA_TIMEOUT_MS,
      freshMs: vars.BANK_DATA_FRESH_S * 1_000,
      maxAgeMs: vars.BANK_DATA_STALE_S * 1_000,
      // Seven eighths and one eighth.
      lookUpBytes: vars.CACHE_MAX_MB * 875_000,
      keptReplyBytes: vars.CACHE_MAX_MB * 125_000,
      monthlyAllowance: vars.BANK_DATA_MONTHLY_ALLOWANCE ?? null,
    },
    essays: {
      upstream: readUpstream('ESSAY', vars.ESSAY_URL, vars.ESSAY_API_KEY),
      timeoutMs: vars.ESSAY_TIMEOUT_MS,
      modeNames: {
        STANDARD: vars.ESSAY_MODE_STANDARD,
        ACADEMIC: vars.ESSAY_MODE_ACADEMIC,
        PROFESSIONAL: vars.ESSAY_MODE_PROFESSIONAL,
        NEWS_REPORT: vars.ESSAY_MODE_NEWS_REPORT,
      },
      textField: vars.ESSAY_TEXT_FIELD ?? null,
      keepDays: vars.ESSAY_KEEP_DAYS,
      monthlyAllowance: vars.ESSAY_MONTHLY_ALLOWANCE ?? null,
    },
    essayService: readEssayServiceSettings(vars),
  };
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

function readUpstream(prefix: string, url: string | undefined, apiKey: string | undefined): UpstreamAccess | null {
  if (url && apiKey) return { url, apiKey };
  if (url) throw createMissingVariableError(`${prefix}_API_KEY`, `${prefix}_URL`);
  if (apiKey) throw createMissingVariableError(`${prefix}_URL`, `${prefix}_API_KEY`);
  return null;
}
