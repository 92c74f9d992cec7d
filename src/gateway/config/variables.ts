import * as z from 'zod';
import {
  baseUrl,
  fieldPath,
  fieldPathList,
  host,
  hostList,
  inFiles,
  integer,
  onOrOff,
  originList,
  pathList,
  secret,
  timeoutMs,
  variableNames,
} from '../../base/variables/parsers.ts';
import {
  bankDataServiceVariables,
  essayServiceVariables,
  essayWriterVariables,
  hostAndLogVariables,
  storeVariables,
} from '../../base/variables/service-config.ts';
import { accessVariables } from './access-config.ts';
import { otlpVariables } from './otlp-config.ts';
import { redisUrl } from './redis-url.ts';

const trustedDocumentsMode = z.enum(['log', 'prefer', 'require'], { error: 'must be log, prefer or require' });

const revision = z
  .string()
  .regex(/^[\w.+-]{1,64}$/, 'must be a commit, such as 1a2b3c4, or a label of at most 64 characters');

/** How many days the trail is kept in files, or where its lines go in their place. */
const auditDays = z
  .string()
  .regex(/^(?:stdout|\d{1,4})$/, 'must be a whole number of days from 0 to 3650, or stdout')
  .transform((text) => (text === 'stdout' ? text : Number(text)))
  .refine((days) => days === 'stdout' || days <= 3_650, 'must be a whole number of days from 0 to 3650, or stdout');

/** The essay service's names of the modes. */
const defaultModeNames = {
  STANDARD: 'Standard',
  ACADEMIC: 'Academic',
  PROFESSIONAL: 'Professional',
  NEWS_REPORT: 'Journalistic',
  DETAILED: 'Detailed',
};

/** Other names, such as `NEWS_REPORT=News report,DETAILED=Long`. */
const modeNames = z.string().transform((text, context) => {
  const modes = new Set(Object.keys(defaultModeNames));
  const pairs = text.split(',').map((pair) => /^\s*([A-Z_]+)\s*=\s*(\S.{0,99}?)\s*$/.exec(pair)?.slice(1) ?? []);
  // Each mode once.
  if (pairs.every(([mode = '']) => modes.delete(mode))) return { ...defaultModeNames, ...Object.fromEntries(pairs) };
  context.addIssue(
    `must be MODE=name pairs separated by commas, such as NEWS_REPORT=News report, each mode once; modes are ${Object.keys(defaultModeNames).join(', ')}`,
  );
  return z.NEVER;
});

export const storeSecret = secret({ minLength: 16 });

export const gatewayVariables = {
  ...hostAndLogVariables,
  ...storeVariables,
  ...essayWriterVariables,
  ...accessVariables,
  ...otlpVariables,
  REDIS_URL: redisUrl.optional().register(inFiles),
  REPLICAS: integer(1, 10_000).optional(),
  STORE_SECRET: storeSecret.optional().register(inFiles),
  STORE_SECRET_OLD: storeSecret.optional().register(inFiles),
  PORT: integer(0, 65_535).default(4000),
  METRICS_PORT: integer(0, 65_535).optional(),
  METRICS_HOST: host.optional(),
  OPERATOR_KEY: secret({ minLength: 32 }).optional().register(inFiles),
  REVISION: revision.default(''),
  REQUEST_LOG_PER_SECOND: integer(0, 100_000).default(100),
  AUDIT_DAYS: auditDays.default(400),
  SHUTDOWN_DELAY_MS: integer(0, 600_000).optional(),
  SHUTDOWN_TIMEOUT_MS: integer(0, 3_600_000).optional(),
  MAX_BUFFERED_BYTES: integer(1_000_000, 100_000_000_000).default(64_000_000),
  MAX_CONNECTIONS: integer(1, 1_000_000).default(1_000),
  CLIENT_TIMEOUT_MS: timeoutMs.default(20_000),
  CORS_ORIGINS: originList.default([]),
  ALLOWED_HOSTS: hostList.optional(),
  MAX_QUERY_COST: integer(1_000, 1_000_000_000).default(100_000),
  MAX_RESPONSE_BYTES: integer(1_000_000, 1_000_000_000).default(8_000_000),
  TRUSTED_DOCUMENTS: pathList.optional(),
  TRUSTED_DOCUMENTS_MODE: trustedDocumentsMode.default('require'),
  MAX_IBANS_PER_QUERY: integer(1, 100_000).default(1_000),
  CHECK_MAX_REQUESTS: integer(0, 1_000).default(2),
  CHECK_MAX_BYTES: integer(1_024, 1_000_000_000).default(10_000_000),
  CHECK_MAX_IBANS: integer(1, 1_000_000).default(10_000),
  MCP: onOrOff.default(true),
  UPSTREAM_CONCURRENCY: integer(1, 1_000).default(64),
  BANK_DATA_URL: baseUrl.optional(),
  BANK_DATA_API_KEY: secret().optional().register(inFiles),
  BANK_DATA_SELF_HOSTED: onOrOff.default(false),
  BANK_DATA_TIMEOUT_MS: timeoutMs.default(10_000),
  BANK_DATA_FRESH_S: integer(0, 31_536_000).default(86_400),
  BANK_DATA_STALE_S: integer(0, 315_360_000).default(2_592_000),
  BANK_DATA_MONTHLY_ALLOWANCE: integer(0, 1_000_000_000).optional(),
  CACHE_MAX_MB: integer(1, 100_000).default(32),
  ESSAY_URL: baseUrl.optional(),
  ESSAY_API_KEY: secret().optional().register(inFiles),
  ESSAY_MODES: modeNames.default(defaultModeNames),
  ESSAY_TEXT_FIELD: fieldPathList.optional(),
  ESSAY_ERROR_FIELD: fieldPath.optional(),
  ESSAY_KEEP_DAYS: integer(1, 3_650).default(30),
  ESSAY_ORDERS_RUNNING: integer(1, 1_000).default(16),
  ESSAY_ORDERS_PER_CALLER: integer(1, 100_000).default(100),
  ESSAY_CANCEL_SENT: onOrOff.default(false),
  ESSAY_MONTHLY_ALLOWANCE: integer(0, 1_000_000_000).optional(),
};

/** The names of the variables of all processes. */
export const knownVariables = variableNames({
  ...gatewayVariables,
  ...bankDataServiceVariables,
  ...essayServiceVariables,
});
