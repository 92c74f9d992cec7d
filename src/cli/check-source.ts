import { setImmediate } from 'node:timers/promises';
import { AnswerSource } from '../check/answers/answers.ts';
import { connectToGateway } from '../check/answers/gateway-answers.ts';
import { createCachedBankData } from '../gateway/bank-data/cached-bank-data.ts';
import { createBankDataAnswers } from '../gateway/bank-data/check-answers.ts';
import { readIbanAnswer, toRejectedIban } from '../gateway/bank-data/rest/wire.ts';
import { type Config, readConfig, type UpstreamAccess } from '../gateway/config/read-config.ts';
import { openPaidCalls } from './paid-calls.ts';

interface SourcePlan {
  /** The URL of a running gateway; null: the bank-data service. */
  gateway: string | null;
  maxCalls: number | null;
}

interface PlannedSource {
  /** The answers of a journal are used only by the source that gave them. */
  id: string;
  /** The self-hosted service in this process: nothing is paid, and no other service is asked. */
  isOffline: boolean;
  open(): Promise<AnswerSource>;
}

/** Who answers the questions of `ledgerquill check`. @throws ConfigError */
export function planSource({ gateway, maxCalls }: SourcePlan, listsVersion: string): PlannedSource {
  if (gateway !== null) {
    const key = process.env.LEDGERQUILL_KEY?.trim() || null;
    return {
      id: `gateway ${gateway}`,
      isOffline: false,
      open: () => connectToGateway({ url: gateway, key, maxCalls }),
    };
  }
  const config = readConfig(process.env);
  const { upstream: access } = config.bankData;
  return {
    isOffline: access === null,
    id: `service ${access?.url ?? `self-hosted, bank lists ${listsVersion}`}`,
    open: async () =>
      access === null ? openSelfHosted(config.dataDir, maxCalls) : openService(config, access, maxCalls),
  };
}

/** The bank-data part of the gateway in this process. @throws ConfigError if the store cannot be used */
async function openService(config: Config, access: UpstreamAccess, maxCalls: number | null): Promise<AnswerSource> {
  const logLevel = config.logLevel === 'info' ? 'warn' : config.logLevel;
  const { createUpstream, store, sharedValues, events, close } = await openPaidCalls(config, { access, logLevel });
  // Each IBAN is asked about once, so nothing is gained from a large cache.
  const ownConfig = { ...config, bankData: { ...config.bankData, lookUpBytes: cacheBytes } };
  const bankData = createCachedBankData({ createUpstream, access, config: ownConfig, store, sharedValues, events });
  return createBankDataAnswers({
    bankData,
    maxConcurrency: config.upstreamConcurrency,
    maxCalls,
    async close() {
      bankData.epochs.close();
      await bankData.client.close();
      await bankData.allowance.flush();
      await close();
    },
  });
}

const cacheBytes = 1_000_000;

/** The self-hosted service in this process. A list of IBANs is one question, without HTTP: nothing is paid, so nothing needs a cache. */
async function openSelfHosted(dataDir: string, maxCalls: number | null): Promise<AnswerSource> {
  const { createBankDirectory } = await import('../bank-data-service/bank-directory.ts');
  const { answerIbanValidation } = await import('../bank-data-service/answers/ibans.ts');
  const directory = createBankDirectory({ dataDir });
  let calls = 0;

  function answer(iban: string) {
    const { status, body } = answerIbanValidation({ iban_number: iban }, directory);
    const { valid, bankData } = (status === 200 && readIbanAnswer(body, iban)) || toRejectedIban(iban);
    return { kind: 'answered', valid, bank: bankData?.name ?? null, bic: bankData?.bic ?? null } as const;
  }

  return new AnswerSource({
    async send(ibans) {
      // Signals are handled between two lists.
      await setImmediate();
      const asked = maxCalls === null ? ibans : ibans.slice(0, maxCalls - calls);
      calls += asked.length;
      return { results: asked.map(answer), stopReason: asked.length < ibans.length ? budgetReason : null };
    },
    maxList: 200,
    maxLists: 1,
    budgetReason,
    calls: () => calls,
    close: async () => directory.close(),
  });
}

const budgetReason = 'the calls of --max-calls are used up';
