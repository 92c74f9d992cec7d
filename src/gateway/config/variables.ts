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
import { redisUrl } from './redis-url.ts';
import { tracesVariables } from './traces-config.ts';

const trustedDocumentsMode = z.enum(['log', 'prefer', 'require'], { error: 'must be log, prefer or require' });

const revision = z
  .string()
  .regex(/^[\w.+-]{1,64}$/, 'must be a commit, such as 1a2b3c4, or a label of at most 64 characters');

const modeName = z.string().max(100, 'must be at most 100 characters');

export const storeSecret = secret({ minLength: 16 });

export const gatewayVariables = {
  ...hostAndLogVariables,
  ...storeVariables,
  ...essayWriterVariables,
  ...accessVariables,
  ...tracesVariables,
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
  AUDIT_DAYS: integer(0, 3_650).default(400),
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
  ESSAY_MODE_STANDARD: modeName.default('Standard'),
  ESSAY_MODE_ACADEMIC: modeName.default('Academic'),
  ESSAY_MODE_PROFESSIONAL: modeName.default('Professional'),
  ESSAY_MODE_NEWS_REPORT: modeName.default('Journalistic'),
  ESSAY_MODE_DETAILED: modeName.default('Detailed'),
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
