import { z } from 'zod';
import { ConfigError } from '../errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;
export type LogLevel = z.infer<typeof logLevel>;

/** Reads the variables of a table; absent and empty are the same. @throws ConfigError with every complaint at once */
export function readVariables<Shape extends z.ZodRawShape>(
  shape: Shape,
  env: Environment,
): z.infer<z.ZodObject<Shape>> {
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

const hostList = z
  .string()
  .transform((text) => text.split(',').map((host) => host.trim().toLowerCase()))
  .refine(
    (hosts) => hosts.every((host) => host === '*' || (URL.canParse(`http://${host}`) && isHostname(host))),
    'must be host names without ports, such as gateway.example.com, separated by commas, or *',
  );

function isHostname(text: string): boolean {
  return new URL(`http://${text}`).hostname === text;
}

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

export const storeVariables = {
  DATA_DIR: z.string().default('.data'),
};

export const llmVariables = {
  LLM_URL: baseUrl.optional(),
  LLM_API_KEY: secret.optional(),
  LLM_MODEL: z.string().optional(),
  LLM_TIMEOUT_MS: timeoutMs.default(110_000),
  ESSAY_SERVICE_ALLOWANCE: integer(0, 1_000_000_000).optional(),
};

export const gatewayVariables = {
  ...processVariables,
  ...storeVariables,
  ...llmVariables,
  REDIS_URL: redisUrl.optional(),
  STORE_SECRET: secret.min(16, 'must have at least 16 characters').optional(),
  PORT: integer(0, 65_535).default(4000),
  SHUTDOWN_TIMEOUT_MS: integer(0, 3_600_000).default(30_000),
  MAX_BODY_BYTES: integer(1_024, 100_000_000).default(1_000_000),
  CORS_ORIGINS: originList.default([]),
  ALLOWED_HOSTS: hostList.optional(),
  MAX_ESSAYS_PER_QUERY: integer(1, 1_000).default(5),
  MAX_QUERY_TOKENS: integer(100, 1_000_000).default(5_000),
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
  BANK_DATA_MONTHLY_ALLOWANCE: integer(0, 1_000_000_000).optional(),
  CACHE_MAX_MB: integer(1, 100_000).default(64),
  ESSAY_URL: baseUrl.optional(),
  ESSAY_API_KEY: secret.optional(),
  ESSAY_TIMEOUT_MS: timeoutMs.default(120_000),
  ESSAY_MODE_STANDARD: modeSpelling.default('Standard'),
  ESSAY_MODE_ACADEMIC: modeSpelling.default('Academic'),
  ESSAY_MODE_PROFESSIONAL: modeSpelling.default('Professional'),
  ESSAY_MODE_NEWS_REPORT: modeSpelling.default('Journalistic'),
  ESSAY_TEXT_FIELD: z.string().optional(),
  ESSAY_KEEP_DAYS: integer(1, 3_650).default(30),
  ESSAY_MONTHLY_ALLOWANCE: integer(0, 1_000_000_000).optional(),
  GATEWAY_AUTH: z.literal('none', { error: 'must be none, or absent' }).optional(),
};

export const bankDataServiceVariables = {
  ...processVariables,
  ...storeVariables,
  BANK_DATA_SERVICE_PORT: integer(0, 65_535).default(4001),
  BANK_DATA_API_KEY: required('the key that callers of the bank-data service must send as apikey'),
};

export const essayServiceVariables = {
  ...processVariables,
  ...llmVariables,
  ESSAY_SERVICE_PORT: integer(0, 65_535).default(4002),
  ESSAY_API_KEY: required('the key that callers of the essay service must send as token'),
};
