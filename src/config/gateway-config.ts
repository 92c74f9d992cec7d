import { ConfigError } from '../errors.ts';
import { isLoopback } from './loopback.ts';
import { type EssayServiceConfig, readEssayServiceSettings } from './service-config.ts';
import { type Environment, gatewayVariables, type LogLevel, readVariables } from './variables.ts';

/** Where an upstream is reached: both parts or neither (then the self-hosted service is started). */
export interface UpstreamAccess {
  /** Base URL without a trailing slash. */
  url: string;
  apiKey: string;
}

export interface BankDataConfig {
  upstream: UpstreamAccess | null;
  /** Deadline of one call, in milliseconds. */
  timeoutMs: number;
  /** How long an answer is served without asking again, in milliseconds. */
  freshMs: number;
  /** How long an answer is served at all, in milliseconds: while it is asked for anew, or the service fails. */
  staleMs: number;
  /** Most memory that remembered answers may take, in bytes, roughly. */
  cacheMaxBytes: number;
  /** Calls per calendar month (UTC); null: as many as the service takes. */
  monthlyAllowance: number | null;
}

export interface EssaysConfig {
  upstream: UpstreamAccess | null;
  /** Deadline of one call, in milliseconds. */
  timeoutMs: number;
  /** How each mode is spelled on the wire. */
  modeSpellings: { STANDARD: string; ACADEMIC: string; PROFESSIONAL: string; NEWS_REPORT: string };
  /** The field of a successful answer that holds the text, as a dotted path; null: the well-known names are tried. */
  textField: string | null;
  /** How long written essays are kept, in days. */
  keepDays: number;
  /** Calls per calendar month (UTC); null: as many as the service takes. */
  monthlyAllowance: number | null;
}

export interface Config {
  host: string;
  port: number;
  logLevel: LogLevel;
  /** Folder of the embedded store; made when there is something to keep. */
  dataDir: string;
  store: StoreConfig;
  /** How long running queries may take to finish once the process was told to stop, in milliseconds. */
  shutdownTimeoutMs: number;
  /** Largest accepted GraphQL request body, in bytes. */
  maxBodyBytes: number;
  /** Origins whose pages may call from a browser; empty: only pages of the gateway's own origin. */
  corsOrigins: readonly string[];
  /** Names under which GraphQL is served, besides those of the loopback interface; `*` for any. */
  allowedHosts: readonly string[];
  /** Most IBANs, and most BICs, one query may ask for, repeats included. */
  maxIbansPerQuery: number;
  /** Most essays one mutation may order. */
  maxEssaysPerQuery: number;
  /** Most tokens of one GraphQL document. */
  maxQueryTokens: number;
  /** Most calls in flight per upstream. */
  upstreamConcurrency: number;
  /** Most calls that wait in line per upstream. */
  upstreamQueue: number;
  /** Upper bound of the wait before the first retry, in milliseconds. */
  retryBackoffMs: number;
  /** Largest accepted upstream answer, in bytes. */
  maxAnswerBytes: number;
  bankData: BankDataConfig;
  essays: EssaysConfig;
  essayService: EssayServiceConfig;
}

/** Where what outlives a request is kept. */
export interface StoreConfig {
  /** Shared by several gateways; null: the embedded store under `dataDir`. */
  redisUrl: string | null;
  /** Seals what is kept; null: one is made and kept under `dataDir`. Never null beside a `redisUrl`. */
  secret: string | null;
}

/**
 * Reads the gateway's configuration from environment variables; absent and empty are the same.
 * @throws ConfigError with every complaint about single values at once, else with the first about what goes together
 */
export function readConfig(env: Environment): Config {
  const vars = readVariables(gatewayVariables, env);
  const config: Config = {
    host: vars.HOST,
    port: vars.PORT,
    logLevel: vars.LOG_LEVEL,
    dataDir: vars.DATA_DIR,
    store: readStore(vars.REDIS_URL, vars.STORE_SECRET),
    shutdownTimeoutMs: vars.SHUTDOWN_TIMEOUT_MS,
    maxBodyBytes: vars.MAX_BODY_BYTES,
    corsOrigins: vars.CORS_ORIGINS,
    allowedHosts: vars.ALLOWED_HOSTS ?? (isLoopback(vars.HOST) ? [] : ['*']),
    maxEssaysPerQuery: vars.MAX_ESSAYS_PER_QUERY,
    maxQueryTokens: vars.MAX_QUERY_TOKENS,
    maxIbansPerQuery: vars.MAX_IBANS_PER_QUERY,
    upstreamConcurrency: vars.UPSTREAM_CONCURRENCY,
    upstreamQueue: vars.UPSTREAM_QUEUE,
    retryBackoffMs: vars.UPSTREAM_RETRY_BACKOFF_MS,
    maxAnswerBytes: vars.MAX_ANSWER_BYTES,
    bankData: {
      upstream: readUpstream('BANK_DATA', vars.BANK_DATA_URL, vars.BANK_DATA_API_KEY),
      timeoutMs: vars.BANK_DATA_TIMEOUT_MS,
      freshMs: vars.BANK_DATA_FRESH_S * 1_000,
      staleMs: vars.BANK_DATA_STALE_S * 1_000,
      cacheMaxBytes: vars.CACHE_MAX_MB * 1_000_000,
      monthlyAllowance: vars.BANK_DATA_MONTHLY_ALLOWANCE ?? null,
    },
    essays: {
      upstream: readUpstream('ESSAY', vars.ESSAY_URL, vars.ESSAY_API_KEY),
      timeoutMs: vars.ESSAY_TIMEOUT_MS,
      modeSpellings: {
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
  refuseOpenWallet(config, vars.GATEWAY_AUTH === 'none');
  return config;
}

function readUpstream(prefix: string, url: string | undefined, apiKey: string | undefined): UpstreamAccess | null {
  if (url !== undefined && apiKey !== undefined) return { url, apiKey };
  if (url !== undefined) {
    throw new ConfigError([`${prefix}_API_KEY: missing; ${prefix}_URL is set, and every call to it needs a key`]);
  }
  if (apiKey !== undefined) {
    throw new ConfigError([`${prefix}_URL: missing; ${prefix}_API_KEY is set, but not the service it is for`]);
  }
  return null;
}

function readStore(redisUrl: string | undefined, secret: string | undefined): StoreConfig {
  if (redisUrl !== undefined && secret === undefined) {
    throw new ConfigError(['STORE_SECRET: missing; REDIS_URL is set, and all gateways that share it must seal alike']);
  }
  return { redisUrl: redisUrl ?? null, secret: secret ?? null };
}

/** The gateway spends its owner's money: it does not offer that to a whole network by accident. */
function refuseOpenWallet(config: Config, isWanted: boolean): void {
  const isPaid =
    config.bankData.upstream !== null || config.essays.upstream !== null || config.essayService.llm?.apiKey;
  if (!isPaid || isWanted || isLoopback(config.host)) return;
  throw new ConfigError([
    'HOST: reachable from other machines, and anyone who reaches it could spend the upstream keys; ' +
      'use 127.0.0.1, or set GATEWAY_AUTH=none if something in front of the gateway decides who may call',
  ]);
}
