import { setImmediate } from 'node:timers/promises';
import { checkDataFolder } from '../base/data-folder.ts';
import { type AnswerSource, createAnswerSource } from '../check/answers/answer-source.ts';
import { connectToGateway } from '../check/answers/gateway-answers.ts';
import { openBankDataAnswers } from '../gateway/bank-data/check-answers.ts';
import { readIbanAnswer, toRejectedIban } from '../gateway/bank-data/rest/wire.ts';
import { readConfig } from '../gateway/config/read-config.ts';

interface SourcePlan {
  /** The URL of a running gateway; null: the bank-data service. */
  gateway: string | null;
  maxCalls: number | null;
}

interface PlannedSource {
  /** The answers of a journal are used only by the source that gave them. */
  id: string;
  open(): Promise<AnswerSource>;
}

/** Who answers the questions of `ledgerquill check`. @throws ConfigError */
export function planSource({ gateway, maxCalls }: SourcePlan, listsVersion: string): PlannedSource {
  if (gateway !== null) {
    const key = process.env.LEDGERQUILL_KEY?.trim() || null;
    return { id: `gateway ${gateway}`, open: () => connectToGateway({ url: gateway, key, maxCalls }) };
  }
  const config = readConfig(process.env);
  const { upstream: access } = config.bankData;
  return {
    id: `service ${access?.url ?? `self-hosted, bank lists ${listsVersion}`}`,
    async open() {
      if (access === null) return openSelfHosted(config.dataDir, maxCalls);
      if (config.store.redis === null) checkDataFolder(config.dataDir);
      return openBankDataAnswers(config, { access, maxCalls });
    },
  };
}

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

  return createAnswerSource({
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
