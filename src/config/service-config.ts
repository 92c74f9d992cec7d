import type { z } from 'zod';
import { ConfigError } from '../errors.ts';
import {
  bankDataServiceVariables,
  type Environment,
  essayServiceVariables,
  type LogLevel,
  type llmVariables,
  readVariables,
  storeVariables,
} from './variables.ts';

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

/** Reads what the essay service writes with, and how much. @throws ConfigError */
export function readEssayServiceSettings(vars: z.infer<z.ZodObject<typeof llmVariables>>): EssayServiceConfig {
  const lost = (['LLM_MODEL', 'LLM_API_KEY'] as const).filter((name) => vars[name] !== undefined);
  if (vars.LLM_URL === undefined && lost.length > 0) {
    throw new ConfigError([`LLM_URL: missing; ${lost.join(' and ')} is set, but not the endpoint it is for`]);
  }
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
