import { createLog } from '../base/log.ts';
import { createRedact } from '../base/redact.ts';
import { runService } from '../base/rest-service.ts';
import { readBankDataServiceConfig } from '../base/variables/service-config.ts';
import { createBankDataService } from './create-bank-data-service.ts';

/** Serves until SIGTERM or SIGINT, as configured by the environment. */
export async function runBankDataService(port: number): Promise<void> {
  const { host, logLevel, apiKey, dataDir } = readBankDataServiceConfig(process.env);
  // Standard output is for the line with the address of the service; errors go to standard error.
  const log = createLog({ level: logLevel, redact: createRedact([apiKey]), destination: process.stderr });
  await runService({ name: 'bank-data', app: createBankDataService({ apiKey, dataDir, log }), host, port });
}
