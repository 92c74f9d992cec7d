import { onTestFinished } from 'vitest';
import { createBankDataService } from '../src/services/bank-data/create-bank-data-service.ts';
import { bankDataKey } from './gateway.ts';

/** The self-hosted bank-data service on a free port, gone when the test is. @returns its URL */
export async function tBankDataService(): Promise<string> {
  const service = createBankDataService({ apiKey: bankDataKey });
  onTestFinished(() => service.close());
  return service.listen({ host: '127.0.0.1', port: 0 });
}
