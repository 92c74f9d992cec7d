import { z } from 'zod';

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
}

export interface EssaysConfig {
  upstream: UpstreamAccess | null;
  /** Deadline of one call, in milliseconds. */
  timeoutMs: number;
  /** How each mode is spelled on the wire. */
  modeSpellings: { STANDARD: string; ACADEMIC: string; PROFESSIONAL: string; NEWS_REPORT: string };
  /** The field of a successful answer that holds the text, as a dotted path; null: the well-known names are tried. */
  textField: string | null;
}

/** An OpenAI-compatible chat endpoint for the self-hosted essay service. */
export interface LlmConfig {
  url: string;
  apiKey: string | null;
  model: string;
  timeoutMs: number;
}

export interface EssayServiceConfig {
  llm: LlmConfig | null;
  /** Requests per calendar month (UTC); null: as many as one likes. */
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
  /** Most distinct IBANs one query may ask for. */
  maxIbansPerQuery: number;
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

/** One of the two services run as a process of its own. */
export interface ServiceConfig {
  host: string;
  port: number;
  logLevel: LogLevel;
  /** What callers must send. */
  apiKey: string;
}

export interface BankDataServiceConfig extends ServiceConfig {
  /** Folder with the bank directories that were imported; there need not be one. */
  dataDir: string;
}

/** What importing a bank directory needs. */
export interface BankImportConfig {
  /** Folder that the imported directories are kept in; made where there is none. */
  dataDir: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;
export type LogLevel = z.infer<typeof logLevel>;

/** Says, variable by variable, what is wrong and what would be right. Never holds a value: it may be a secret. */
export class ConfigError extends Error {
  constructor(complaints: readonly string[]) {
    super(`The configuration is not usable:\n${complaints.map((complaint) => `  ${complaint}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/**
 * Reads the gateway's configuration from environment variables; absent and empty are the same.
 * @throws ConfigError with every complaint at once
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
    },
    essayService: readEssayServiceSettings(vars),
  };
  refuseOpenWallet(config, vars.GATEWAY_AUTH === 'none');
  return config;
}

/** Reads what the bank-data service needs to run on its own. @throws ConfigError */
export function readBankDataServiceConfig(env: Environment): BankDataServiceConfig {
  const vars = readVariables(bankDataServiceVariables, env);
  return {
    host: vars.HOST,
    port: vars.BANK_DATA_SERVICE_PORT,
    logLevel: vars.LOG_LEVEL,
    apiKey: vars.BANK_DATA_API_KEY,
    dataDir: vars.DATA_DIR,
  };
}

/** Reads what importing a bank directory needs. @throws ConfigError */
export function readBankImportConfig(env: Environment): BankImportConfig {
  return { dataDir: readVariables(storeVariables, env).DATA_DIR };
}

/** Reads what the essay service needs to run on its own. @throws ConfigError */
export function readEssayServiceConfig(env: Environment): ServiceConfig & EssayServiceConfig {
  const vars = readVariables(essayServiceVariables, env);
  return {
    host: vars.HOST,
    port: vars.ESSAY_SERVICE_PORT,
    logLevel: vars.LOG_LEVEL,
    apiKey: vars.ESSAY_API_KEY,
    ...readEssayServiceSettings(vars),
  };
}

/** Whether only this machine can reach a server that listens on this host. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
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

function readEssayServiceSettings(vars: z.infer<z.ZodObject<typeof llmVariables>>): EssayServiceConfig {
  if (vars.LLM_URL !== undefined && vars.LLM_MODEL === undefined) {
    throw new ConfigError([
      'LLM_MODEL: missing; LLM_URL is set, and the endpoint must be told which model is to write',
    ]);
  }
  const llm =
    vars.LLM_URL === undefined || vars.LLM_MODEL === undefined
      ? null
      : { url: vars.LLM_URL, apiKey: vars.LLM_API_KEY ?? null, model: vars.LLM_MODEL, timeoutMs: vars.LLM_TIMEOUT_MS };
  return { llm, monthlyAllowance: vars.ESSAY_SERVICE_ALLOWANCE ?? null };
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

function readVariables<Shape extends z.ZodRawShape>(shape: Shape, env: Environment): z.infer<z.ZodObject<Shape>> {
  const given = Object.fromEntries(
    Object.keys(shape).flatMap((name) => {
      const value = env[name]?.trim();
      return value ? [[name, value]] : [];
    }),
  );
  const result = z.object(shape).safeParse(given);
  if (result.success) return result.data;
  throw new ConfigError(result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));
}

function integer(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, error)
    .transform(Number)
    .refine((value) => value >= min && value <= max, error);
}

const timeoutMs = integer(1, 3_600_000);
const logLevel = z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
  error: 'must be one of trace, debug, info, warn, error, fatal, silent',
});
/** What goes into a request header must fit there: visible ASCII, no line break. */
const secret = z.string().regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces');
const modeSpelling = z.string().max(100, 'must be at most 100 characters');

const redisUrl = z
  .string()
  .refine(
    (url) => URL.canParse(url) && /^rediss?:$/.test(new URL(url).protocol),
    'must be a redis:// or rediss:// URL',
  );

const baseUrl = z
  .string()
  .refine(isPlainHttpUrl, 'must be an http:// or https:// URL without user name, password, query or fragment')
  .transform((url) => url.replace(/\/+$/, ''));

function isPlainHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
}

const originList = z
  .string()
  .transform((text) => text.split(',').map((origin) => origin.trim()))
  .refine(
    (origins) =>
      origins.every((origin) => origin === '*' || (URL.canParse(origin) && new URL(origin).origin === origin)),
    'must be origins such as https://app.example.com, separated by commas, or *',
  );

function required(description: string) {
  return secret
    .optional()
    .refine((value) => value !== undefined, `missing; ${description}`)
    .transform((value) => value ?? '');
}

const processVariables = {
  HOST: z.string().default('127.0.0.1'),
  LOG_LEVEL: logLevel.default('info'),
};

const storeVariables = {
  DATA_DIR: z.string().default('.data'),
};

const llmVariables = {
  LLM_URL: baseUrl.optional(),
  LLM_API_KEY: secret.optional(),
  LLM_MODEL: z.string().optional(),
  LLM_TIMEOUT_MS: timeoutMs.default(110_000),
  ESSAY_SERVICE_ALLOWANCE: integer(0, 1_000_000_000).optional(),
};

const gatewayVariables = {
  ...processVariables,
  ...storeVariables,
  ...llmVariables,
  REDIS_URL: redisUrl.optional(),
  STORE_SECRET: secret.min(16, 'must have at least 16 characters').optional(),
  PORT: integer(0, 65_535).default(4000),
  SHUTDOWN_TIMEOUT_MS: integer(0, 3_600_000).default(30_000),
  MAX_BODY_BYTES: integer(1_024, 100_000_000).default(1_000_000),
  CORS_ORIGINS: originList.default([]),
  MAX_IBANS_PER_QUERY: integer(1, 100_000).default(1_000),
  UPSTREAM_CONCURRENCY: integer(1, 1_000).default(16),
  UPSTREAM_QUEUE: integer(0, 1_000_000).default(2_000),
  UPSTREAM_RETRY_BACKOFF_MS: integer(0, 60_000).default(100),
  MAX_ANSWER_BYTES: integer(1_024, 100_000_000).default(1_000_000),
  BANK_DATA_URL: baseUrl.optional(),
  BANK_DATA_API_KEY: secret.optional(),
  BANK_DATA_TIMEOUT_MS: timeoutMs.default(10_000),
  BANK_DATA_FRESH_S: integer(0, 31_536_000).default(86_400),
  BANK_DATA_STALE_S: integer(0, 315_360_000).default(2_592_000),
  CACHE_MAX_MB: integer(1, 100_000).default(64),
  ESSAY_URL: baseUrl.optional(),
  ESSAY_API_KEY: secret.optional(),
  ESSAY_TIMEOUT_MS: timeoutMs.default(120_000),
  ESSAY_MODE_STANDARD: modeSpelling.default('Standard'),
  ESSAY_MODE_ACADEMIC: modeSpelling.default('Academic'),
  ESSAY_MODE_PROFESSIONAL: modeSpelling.default('Professional'),
  ESSAY_MODE_NEWS_REPORT: modeSpelling.default('Journalistic'),
  ESSAY_TEXT_FIELD: z.string().optional(),
  GATEWAY_AUTH: z.literal('none', { error: 'must be none, or absent' }).optional(),
};

const bankDataServiceVariables = {
  ...processVariables,
  ...storeVariables,
  BANK_DATA_SERVICE_PORT: integer(0, 65_535).default(4001),
  BANK_DATA_API_KEY: required('the key that callers of the bank-data service must send as apikey'),
};

const essayServiceVariables = {
  ...processVariables,
  ...llmVariables,
  ESSAY_SERVICE_PORT: integer(0, 65_535).default(4002),
  ESSAY_API_KEY: required('the key that callers of the essay service must send as token'),
};
