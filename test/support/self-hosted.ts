import { onTestFinished } from 'vitest';
import { createBankDataService } from '../../src/bank-data-service/create-bank-data-service.ts';
import type { LlmConfig } from '../../src/base/variables/service-config.ts';
import { createEssayService } from '../../src/essay-service/create-essay-service.ts';
import { createEssayWriter } from '../../src/essay-service/run-essay-service.ts';
import { bankDataKey, essaysKey } from './gateway.ts';
import type { OnFinished } from './process.ts';

/** The self-hosted bank-data service on a free port, closed after the test. @returns its URL */
export async function tBankDataService({
  onFinished = onTestFinished,
  ...options
}: {
  dataDir?: string;
  onFinished?: OnFinished;
} = {}): Promise<string> {
  const service = createBankDataService({ apiKey: bankDataKey, ...options });
  onFinished(() => service.close());
  return service.listen({ host: '127.0.0.1', port: 0 });
}

interface TEssayServiceOptions {
  llm?: LlmConfig | null;
  monthlyAllowance?: number | null;
  onFinished?: OnFinished;
}

/** The self-hosted essay service on a free port, with the drafter unless a model is given. @returns its URL */
export async function tEssayService({
  llm = null,
  monthlyAllowance = null,
  onFinished = onTestFinished,
}: TEssayServiceOptions = {}): Promise<string> {
  const service = createEssayService({ apiKey: essaysKey, writer: createEssayWriter(llm), monthlyAllowance });
  onFinished(() => service.close());
  return service.listen({ host: '127.0.0.1', port: 0 });
}
