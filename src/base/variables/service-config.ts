import * as z from 'zod';
import { defaultDataDir } from '../data-folder.ts';
import { ConfigError } from '../errors.ts';
import { baseUrl, host, inFiles, integer, logLevel, secret, timeoutMs } from './parsers.ts';
import { type Environment, readVariables } from './read-variables.ts';

export const hostAndLogVariables = { HOST: host.default('127.0.0.1'), LOG_LEVEL: logLevel.default('info') };

export const storeVariables = { DATA_DIR: z.string().default(defaultDataDir) };

export const essayWriterVariables = {
  LLM_URL: baseUrl.optional(),
  LLM_API_KEY: secret().optional().register(inFiles),
  LLM_MODEL: z.string().optional(),
  ESSAY_TIMEOUT_MS: timeoutMs.default(120_000),
  ESSAY_SERVICE_ALLOWANCE: integer(0, 1_000_000_000).optional(),
  ESSAY_WRITER_DELAY: integer(0, 10_000).default(0),
};

export const bankDataServiceVariables = {
  ...hostAndLogVariables,
  ...storeVariables,
  BANK_DATA_API_KEY: secret({ description: 'the key that callers must send in the apikey header' }).register(inFiles),
};

export const essayServiceVariables = {
  ...hostAndLogVariables,
  ...essayWriterVariables,
  ESSAY_API_KEY: secret({ description: 'the key that callers must send in the token header' }).register(inFiles),
};

/** An OpenAI-compatible chat endpoint for the self-hosted essay service. */
export type LlmConfig = NonNullable<ReturnType<typeof readEssayServiceSettings>['llm']>;

/** A self-hosted bank-data service that runs as its own process. @throws ConfigError */
export function readBankDataServiceConfig(env: Environment) {
  const vars = readVariables(bankDataServiceVariables, env);
  return {
    host: vars.HOST,
    logLevel: vars.LOG_LEVEL,
    /** The key that callers must send; the same variable as in the gateway. */
    apiKey: vars.BANK_DATA_API_KEY,
    dataDir: vars.DATA_DIR,
  };
}

/** Where imported bank directories are stored; the folder is created with the first import. @throws ConfigError */
export function readBankImportConfig(env: Environment): { dataDir: string } {
  return { dataDir: readVariables(storeVariables, env).DATA_DIR };
}

/** A self-hosted essay service that runs as its own process. @throws ConfigError */
export function readEssayServiceConfig(env: Environment) {
  const vars = readVariables(essayServiceVariables, env);
  return { host: vars.HOST, logLevel: vars.LOG_LEVEL, apiKey: vars.ESSAY_API_KEY, ...readEssayServiceSettings(vars) };
}

/** @throws ConfigError if the variables of the language model are incomplete */
export function readEssayServiceSettings(vars: z.infer<z.ZodObject<typeof essayWriterVariables>>) {
  const { LLM_URL: url, LLM_API_KEY: apiKey, LLM_MODEL: model, ESSAY_TIMEOUT_MS: essayTimeoutMs } = vars;
  if (url && !model) throw createMissingVariableError('LLM_MODEL', 'LLM_URL');
  if (!url && (model || apiKey)) throw createMissingVariableError('LLM_URL', model ? 'LLM_MODEL' : 'LLM_API_KEY');
  // The gateway still has time to receive the essay, or the failure.
  const timeoutMs = Math.max(essayTimeoutMs - 10_000, essayTimeoutMs / 2);
  const llm = url && model ? { url, apiKey: apiKey ?? null, model, timeoutMs } : null;
  return {
    /** Null: essays are drafted without a language model. */
    llm,
    /** Requests per calendar month (UTC); null: unlimited. */
    monthlyAllowance: vars.ESSAY_SERVICE_ALLOWANCE ?? null,
    /** How long the drafter waits before each word, so that the states of an order can be seen. */
    wordDelayMs: vars.ESSAY_WRITER_DELAY,
  };
}

export function createMissingVariableError(name: string, present: string): ConfigError {
  return new ConfigError([`${name}: missing; it is required because ${present} is set`]);
}
